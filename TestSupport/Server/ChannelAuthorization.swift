import PusherChannels

/// What an app's backend does at its authorisation endpoint: reads the form and signs, correctly.
struct ChannelAuthorization {
    let app: ServerApp
    /// The user for presence channels where the form names none; the socket id stands in for a missing one.
    var defaultUserID: String?

    func answer(_ form: [String: String]) throws(HTTPRefusal) -> JSONValue {
        guard let socketID = form["socket_id"], Self.isSocketID(socketID) else {
            throw HTTPRefusal(status: 400, reason: "Missing or invalid: socket_id")
        }
        guard let name = form["channel_name"], !name.isEmpty else {
            throw HTTPRefusal(status: 400, reason: "Missing: channel_name")
        }
        let channel = ServerChannelName(name: name)
        guard channel.needsAuthorization else {
            throw HTTPRefusal(status: 403, reason: "Only private and presence channels are signed, not \(name)")
        }
        let request = ServerApp.AuthorizationRequest(channel: name, socketID: socketID, userID: form["user_id"])
        guard !app.deniedChannels.contains(name), app.authorizes(request) else {
            throw HTTPRefusal(status: 403, reason: "Forbidden: \(name)")
        }
        let data = channel.isPresence ? try channelData(form, socketID: socketID) : nil
        let auth = Signature.channel(name, channelData: data, socketID: socketID, key: app.key, secret: app.secret)
        var answer: [String: JSONValue] = ["auth": .string(auth)]
        answer["channel_data"] = data.map { .string($0) }
        return .object(answer)
    }

    private func channelData(_ form: [String: String], socketID: String) throws(HTTPRefusal) -> String {
        var data: [String: JSONValue] = ["user_id": .string(form["user_id"] ?? defaultUserID ?? socketID)]
        if let info = form["user_info"] {
            do {
                data["user_info"] = try JSONValue(parsing: info)
            } catch {
                throw HTTPRefusal(status: 400, reason: "user_info is not JSON: \(error)")
            }
        }
        return JSONValue.object(data).text
    }

    /// Digits, a dot, digits, as the HTTP libraries check it.
    private static func isSocketID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }
}

extension ServerMachine {
    /// `POST /pusher/auth`: the endpoint of every app's backend at once.
    func authorize(_ request: ServerRequest) throws(HTTPRefusal) -> ServerResponse {
        guard request.method == "POST" else {
            throw HTTPRefusal(status: 405, reason: "The authorisation endpoint takes POST")
        }
        let form = request.form
        // The socket id tells which app it is for.
        let connection = connections.values.first { $0.socketID == form["socket_id"] }
        guard let app = connection?.app ?? apps.first else {
            throw HTTPRefusal(status: 404, reason: "There is no app")
        }
        return .json(try ChannelAuthorization(app: app).answer(form))
    }
}
