import Foundation

extension PusherAuth {
    /// The authorization as JSON: the body of an endpoint's response, which has status 200 and `Content-Type: application/json`.
    public var json: Data {
        var members: [Name: JSONValue] = ["auth": .string(auth)]
        members["channel_data" as Name] = channelData.map { .string($0) }
        members["shared_secret" as Name] = sharedSecret.map { .string($0) }
        return Data(JSONValue.object(members).text.utf8)
    }
}

extension PusherUserAuth {
    /// The authentication as JSON: the body of an endpoint's response, which has status 200 and `Content-Type: application/json`.
    public var json: Data {
        Data(JSONValue.object(["auth": .string(auth), "user_data": .string(userData)]).text.utf8)
    }
}
