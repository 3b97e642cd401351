import Foundation
import PusherChannels
import Testing

@Suite struct PusherAuthTests {
    @Test func `The description of what holds secrets names the parts, but shows no secret`() {
        for (value, description) in [
            (PusherAuth(auth: "key:sig"), "PusherAuth(auth)"),
            (PusherAuth(auth: "key:sig", channelData: "{}"), "PusherAuth(auth, channelData)"),
            (PusherAuth(auth: "key:sig", sharedSecret: "c2VjcmV0"), "PusherAuth(auth, sharedSecret)"),
            (AuthMethod.customEndpoint(AuthEndpoint("http://auth.example/auth")), "customEndpoint(http://auth.example/auth)"),
            (PusherAuthenticator(key: "key", secret: "s3cret"), "PusherAuthenticator(key key)"),
            (PusherWebhookVerifier(secrets: ["key": "s3cret"]), "PusherWebhookVerifier(1 keys)"),
        ] as [(Any, String)] {
            #expect("\(value)" == description)
        }
    }

    private static let signature = "278d425bdf160c739803:58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4"

    private static func decoder(_ keys: JSONDecoder.KeyDecodingStrategy) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = keys
        return decoder
    }

    /// Responses as written by the official libraries for Node.js, PHP (in Laravel) and Go, and by ``PusherAuthenticator``.
    static let responses: [(String, PusherAuth)] = [
        (#"{"auth":"\#(signature)"}"#, PusherAuth(auth: signature)),
        (
            #"{"auth":"\#(signature)","channel_data":"{\"user_id\":\"10\",\"user_info\":{\"name\":\"Mr. Channels\"}}"}"#,
            PusherAuth(auth: signature, channelData: #"{"user_id":"10","user_info":{"name":"Mr. Channels"}}"#)
        ),
        (
            #"{"auth":"\#(signature)","channel_data":"{\"user_id\":\"1\",\"user_info\":{\"name\":\"Zo\u00eb \/ Ann\"}}"}"#,
            PusherAuth(auth: signature, channelData: #"{"user_id":"1","user_info":{"name":"Zoë / Ann"}}"#)
        ),
        (
            #"{"auth":"\#(signature)","shared_secret":"oTNfrDA+tGGgkM4c9d7wHTyGFlPzTYWhoVNPVxAqXcE="}"#,
            PusherAuth(auth: signature, sharedSecret: "oTNfrDA+tGGgkM4c9d7wHTyGFlPzTYWhoVNPVxAqXcE=")
        ),
        (#"{"auth":"\#(signature)","channel_data":null,"shared_secret":null,"more":[1]}"#, PusherAuth(auth: signature)),
    ]

    @Test(arguments: responses)
    func `Authorization responses of official server libraries are decoded`(response: String, auth: PusherAuth) throws {
        for keys in [JSONDecoder.KeyDecodingStrategy.useDefaultKeys, .convertFromSnakeCase] {
            #expect(try Self.decoder(keys).decode(PusherAuth.self, from: Data(response.utf8)) == auth)
        }
    }

    @Test func `A user authentication response is decoded`() throws {
        let response = #"{"auth":"\#(Self.signature)","user_data":"{\"id\":\"12345\",\"watchlist\":[\"7\"]}"}"#
        let auth = PusherUserAuth(auth: Self.signature, userData: #"{"id":"12345","watchlist":["7"]}"#)
        for keys in [JSONDecoder.KeyDecodingStrategy.useDefaultKeys, .convertFromSnakeCase] {
            #expect(try Self.decoder(keys).decode(PusherUserAuth.self, from: Data(response.utf8)) == auth)
        }
    }

    @Test(arguments: [
        "{}", #"{"auth":7}"#, #"{"auth":null}"#, #"{"auth":"s3cr3t","channel_data":{"user_id":"s3cr3t"}}"#,
        #"{"auth":"s3cr3t","shared_secret":["s3cr3t"]}"#, "[]", #""s3cr3t""#,
    ])
    func `An invalid authorization response is a decoding error that quotes no secret`(response: String) {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PusherAuth.self, from: Data(response.utf8))
        }
        #expect("\(error as Any)".contains("s3cr3t") == false)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PusherUserAuth.self, from: Data(response.utf8)) }
    }
}
