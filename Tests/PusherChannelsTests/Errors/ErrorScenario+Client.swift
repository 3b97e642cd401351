import Foundation
import TestSupport

@testable import PusherChannels

/// The errors that the delegate gets about the connection and the user.
extension ErrorScenario {
    private static func closed(_ name: String, _ code: UInt16, _ reason: String) -> ErrorScenario {
        ErrorScenario(name) {
            let rig = ClientRig.connected()
            rig.socket.serverCloses(code: code, reason: reason)
            return try await rig.error()
        }
    }

    private static func told(_ name: String, _ data: String) -> ErrorScenario {
        ErrorScenario(name) {
            let rig = ClientRig.connected()
            rig.socket.serverSends(#"{"event":"pusher:error","data":\#(data)}"#)
            return try await rig.error()
        }
    }

    /// An error reported after the server has sent nothing for some time.
    private static func silent(
        _ name: String, _ time: Duration, server: MockWebSocket.Server,
        _ prepare: @escaping @Sendable (ClientRig) -> Void = { _ in }
    ) -> ErrorScenario {
        ErrorScenario(name) {
            let rig = ClientRig.connected(server: server)
            prepare(rig)
            rig.scheduler.advance(by: time)
            return try await rig.error()
        }
    }

    static let connection: [ErrorScenario] = [
        closed("The key is no app's, or its app lives in another cluster", 4001, "App key key not in this cluster"),
        closed("The app is disabled", 4003, "Application disabled"),
        closed("The app has as many connections as its plan allows", 4004, "Application is over connection quota"),
        closed("The path is wrong", 4005, "Path not found"),
        closed("The server speaks another version of the protocol", 4007, "Unsupported protocol version"),
        closed("The app's backend ended the user's connections", 4009, "You got disconnected by the app"),
        told("The server tells of an error", #"{"code":4300,"message":"Something is wrong"}"#),
        told("The server cuts client events that are too many", #"{"code":4301,"message":"Client event rejected"}"#),
        ErrorScenario("A message can't be understood") {
            let rig = ClientRig.connected()
            rig.socket.serverSends("nonsense")
            return try await rig.error()
        },
        ErrorScenario("No connection can be made, or it is lost") {
            let rig = ClientRig.connected(server: .manual)
            rig.socket.refuse(.connectionRefused, "ws.example:443 can't be reached: connection refused")
            return try await rig.error()
        },
        ErrorScenario("The server hangs up after the upgrade, twice in a row") {
            let rig = ClientRig.connected(server: .manual)
            let end = TransportError(.connectionLost, "The connection was lost without a close frame")
            for attempt in 1...2 {
                rig.socket.accept()
                rig.pusher.connection.webSocketDidClose(.failed(end), attempt: ConnectionAttempt(attempt))
                rig.pusher.connect()
            }
            let told = try await rig.recorder.next { $0.failure?.message.contains("check the key") == true }
            guard let error = told.failure else { throw NoError() }
            return error
        },
        ErrorScenario("The host, the port or a header can't be used") {
            let rig = ClientRig.connected(server: .manual)
            rig.socket.refuse(.unsupported, HTTPSyntax.noHost("ws.example:6001"))
            return try await rig.error()
        },
        ErrorScenario("The key is empty") {
            let rig = ClientRig(key: "")
            rig.pusher.connect()
            return try await rig.error()
        },
        silent("The connection doesn't open in time", .seconds(300), server: .manual),
        silent("The server opens the connection and says nothing", .seconds(60), server: .manual) { $0.socket.accept() },
        silent("The server falls silent", .seconds(160), server: .manual) {
            $0.socket.accept()
            $0.socket.serverEstablishes()
        },
        ErrorScenario("As many attempts failed as the policy allows") {
            let rig = ClientRig(server: .manual) { $0.reconnectPolicy.maximumRetries = 0 }
            rig.pusher.connect()
            rig.socket.refuse(.connectionRefused, "ws.example:443 can't be reached: connection refused")
            let told = try await rig.recorder.next { $0.failure?.kind == .attemptsExhausted }
            guard let error = told.failure else { throw NoError() }
            return error
        },
        ErrorScenario("A stream isn't read") {
            let rig = ClientRig.connected { $0.pauseLimit = .seconds(20) }
            let news = rig.pusher.subscribe("news").events(buffering: StreamBuffering(limit: 2))
            for _ in 0..<2 { rig.socket.publish(channel: "news", event: "e", data: "1") }
            rig.scheduler.advance(by: .seconds(20))
            return try await thrown { for try await _ in news {} }
        },
    ]

    static let users: [ErrorScenario] = [
        ErrorScenario("There is no way to authenticate the user") {
            let rig = ClientRig.connected()
            rig.pusher.signIn { _ in }
            return try await rig.error()
        },
        ErrorScenario("The server doesn't answer the sign-in") {
            let rig = ClientRig.connected(server: .manual) {
                $0.userAuthMethod = .inline(secret: "secret", userData: #"{"id":"ann"}"#)
            }
            rig.socket.accept()
            rig.socket.serverEstablishes()
            rig.pusher.signIn { _ in }
            rig.scheduler.advance(by: .seconds(30))
            return try await rig.error()
        },
        ErrorScenario("The client disconnects before the user is signed in") {
            let rig = ClientRig(server: .manual) { $0.userAuthMethod = .inline(secret: "secret", userData: #"{"id":"ann"}"#) }
            rig.pusher.connect()
            rig.pusher.signIn { _ in }
            rig.pusher.disconnect()
            return try await rig.error()
        },
    ]
}
