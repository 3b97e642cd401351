import Foundation
import PusherChannels
import TestSupport

/// The errors that a backend gets from the HTTP API and when authorizing clients.
extension ErrorScenario {
    private static let onceOnly = PusherHTTPAPIOptions(retryPolicy: .none)

    private static func status(
        _ name: String, _ status: Int, _ body: String = "", headers: [String: String] = [:]
    ) -> ErrorScenario {
        ErrorScenario(name) {
            let rig = APIRig(options: onceOnly)
            rig.respond(status, body, headers: headers)
            return try await thrown { try await APICall.trigger.run(on: rig.api) }
        }
    }

    private static func failure(_ name: String, _ code: URLError.Code, _ text: String) -> ErrorScenario {
        ErrorScenario(name) {
            let rig = APIRig(options: onceOnly)
            rig.session.mockResponse = (nil, nil, failure(code, text))
            return try await thrown { try await APICall.trigger.run(on: rig.api) }
        }
    }

    /// An error of a session, with the text of the SDK's own session on Linux.
    static func failure(_ code: URLError.Code, _ text: String) -> NSError {
        NSError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: [NSLocalizedDescriptionKey: text])
    }

    private static func misuse(_ name: String, _ call: @escaping @Sendable (PusherHTTPAPI) async throws -> Void) -> Self {
        ErrorScenario(name) { try await thrown { try await call(APIRig().api) } }
    }

    static let httpAPI: [ErrorScenario] = [
        failure(
            "The HTTP API can't be reached", .cannotConnectToHost,
            "api.example:443 can't be reached: connection refused (address 192.0.2.1)"),
        failure("The HTTP API didn't respond", .timedOut, "api.example:443 didn't answer the request within 30 s"),
        status("The HTTP API rejected the request", 400, "Invalid JSON"),
        status("The HTTP API rejected the signature", 401, "Invalid signature"),
        status("The app isn't allowed to do that", 403, "Application disabled"),
        status("No app has this id", 404),
        status("The HTTP API rejected the event's size", 413),
        status("Too many requests", 429),
        status("The HTTP API failed", 500),
        status("The HTTP API refused with a success status", 200, #"{"error":"The secret authentication failed","code":401}"#),
        status("The HTTP API redirects", 302, headers: ["Location": "https://eu.example/apps/3/events"]),
        ErrorScenario("The HTTP API's response can't be read") {
            let rig = APIRig()
            rig.respond(200, "<html>")
            return try await thrown { try await rig.api.channels() }
        },
        misuse("An event without a channel") { try await $0.trigger(channels: [], eventName: "e", data: 1) },
        misuse("An event for too many channels") {
            try await $0.trigger(channels: (1...101).map { "c\($0)" }, eventName: "e", data: 1)
        },
        misuse("An event without a name") { try await $0.trigger(channels: ["news"], eventName: "", data: 1) },
        misuse("A batch is too large") {
            try await $0.triggerBatch((1...11).map { PusherBatchEvent(channel: "news", eventName: "e", data: $0) })
        },
        misuse("No encryption key is set") { try await $0.trigger(channels: ["private-encrypted-a"], eventName: "e", data: 1) },
        misuse("An event for an encrypted channel and others") {
            try await $0.trigger(channels: ["private-encrypted-a", "news"], eventName: "e", data: 1)
        },
        misuse("Only presence channels have users") { _ = try await $0.users(of: "news") },
    ]

    private static func asked(
        _ name: String, _ request: PusherAuthRequest,
        _ call: @escaping @Sendable (PusherAuthenticator, PusherAuthRequest) throws -> Void = { _ = try $0.authorizeChannel($1) }
    ) -> ErrorScenario {
        ErrorScenario(name) { try await thrown { try call(PusherAuthenticator(key: "key", secret: "secret"), request) } }
    }

    static let backend: [ErrorScenario] = [
        ErrorScenario("An authorization request can't be read") {
            try await thrown { try PusherAuthRequest(body: Data("channel_name=private-a".utf8)) }
        },
        asked("An authorization request's socket id is invalid", PusherAuthRequest(socketID: "12", channelName: "private-a")),
        asked("An authorization request for a public channel", PusherAuthRequest(socketID: "1.2", channelName: "news")),
        asked("An authorization request for a presence channel", PusherAuthRequest(socketID: "1.2", channelName: "presence-a")),
        asked("The authenticator has no encryption key", PusherAuthRequest(socketID: "1.2", channelName: "private-encrypted-a")),
        asked("A user's request was treated as a channel's", PusherAuthRequest(socketID: "1.2")),
        asked("The user's id is empty", PusherAuthRequest(socketID: "1.2")) { _ = try $0.authenticateUser($1, userID: "") },
        ErrorScenario("The app's key or secret is empty") {
            let authenticator = PusherAuthenticator(key: "key", secret: "")
            return try await thrown {
                try authenticator.authorizeChannel(PusherAuthRequest(socketID: "1.2", channelName: "private-a"))
            }
        },
        ErrorScenario("An encryption master key is invalid") { try await thrown { try EncryptionMasterKey(base64: "short") } },
        ErrorScenario("A shard's number is out of range") { try await thrown { try Shard(3, of: 3) } },
    ]
}
