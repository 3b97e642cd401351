import Foundation
import TestSupport

@testable import PusherChannels

/// The errors that the delegate gets about the connection and the user.
extension ErrorScenario {
    private static func closed(_ name: String, _ code: UInt16, _ reason: String) -> ErrorScenario {
        reported(name) { $0.socket.serverCloses(code: code, reason: reason) }
    }

    private static func told(_ name: String, _ data: String) -> ErrorScenario {
        reported(name) { $0.socket.serverSends(#"{"event":"pusher:error","data":\#(data)}"#) }
    }

    /// An error reported after the server has sent nothing for some time.
    private static func silent(
        _ name: String, _ time: Duration, _ prepare: @escaping @Sendable (ClientRig) -> Void = { _ in }
    ) -> ErrorScenario {
        reported(name, by: { ClientRig.connected(server: .manual) }) { rig in
            prepare(rig)
            rig.scheduler.advance(by: time)
        }
    }

    static let connection: [ErrorScenario] = [
        closed("No app has this key", 4001, "App key key not in this cluster"),
        closed("The app is disabled", 4003, "Application disabled"),
        closed("The app has too many connections", 4004, "Application is over connection quota"),
        closed("The path is wrong", 4005, "Path not found"),
        closed("The server doesn't support protocol version 7", 4007, "Unsupported protocol version"),
        closed("Your backend ended the user's connections", 4009, "You got disconnected by the app"),
        told("The server reported an error", #"{"code":4300,"message":"Something is wrong"}"#),
        told("The server rejected a client event", #"{"code":4301,"message":"Client event rejected"}"#),
        reported("A message can't be decoded") { $0.socket.serverSends("nonsense") },
        reported("The connection failed or was lost", by: { ClientRig.connected(server: .manual) }) {
            $0.socket.refuse(.connectionRefused, "ws.example:443 can't be reached: connection refused")
        },
        ErrorScenario("The server closes every connection at once") {
            let rig = ClientRig.connected(server: .manual)
            let end = TransportError(.connectionLost, "The connection was lost without a close frame")
            for attempt in 1...2 {
                rig.socket.accept()
                rig.pusher.connection.webSocketDidClose(.failed(end), attempt: ConnectionAttempt(attempt))
                rig.pusher.connect()
            }
            return try await rig.error { $0.message.contains("check the key") }
        },
        reported("The host, the port or a header is invalid", by: { ClientRig.connected(server: .manual) }) {
            $0.socket.refuse(.unsupported, HTTPSyntax.noHost("ws.example:6001"))
        },
        reported("The key is empty", by: { ClientRig(key: "") }) { $0.pusher.connect() },
        silent("Connecting took too long", .seconds(300)),
        silent("The server sent nothing after connecting", .seconds(60)) { $0.socket.accept() },
        silent("The server stopped responding", .seconds(160)) {
            $0.socket.accept()
            $0.socket.serverEstablishes()
        },
        ErrorScenario("Too many attempts failed") {
            let rig = ClientRig(server: .manual) { $0.reconnectPolicy.maximumRetries = 0 }
            rig.pusher.connect()
            rig.socket.refuse(.connectionRefused, "ws.example:443 can't be reached: connection refused")
            return try await rig.error { $0.kind == .attemptsExhausted }
        },
        ErrorScenario("A stream wasn't read in time") {
            let rig = ClientRig.connected { $0.pauseLimit = .seconds(20) }
            let news = rig.pusher.subscribe("news").events(buffering: StreamBuffering(limit: 2))
            for _ in 0..<2 { rig.socket.publish(channel: "news", event: "e", data: "1") }
            rig.scheduler.advance(by: .seconds(20))
            return try await thrown { for try await _ in news {} }
        },
    ]

    private static let user = UserAuthMethod.inline(secret: "secret", userData: #"{"id":"ann"}"#)

    static let users: [ErrorScenario] = [
        reported("No user auth method is set") { $0.pusher.signIn { _ in } },
        reported("The server didn't confirm the sign-in", by: { ClientRig.unanswered { $0.userAuthMethod = user } }) {
            $0.pusher.signIn { _ in }
            $0.scheduler.advance(by: .seconds(30))
        },
        reported("The client disconnected before the sign-in", by: { ClientRig(server: .manual) { $0.userAuthMethod = user } }) {
            $0.pusher.connect()
            $0.pusher.signIn { _ in }
            $0.pusher.disconnect()
        },
    ]
}
