import Foundation
import TestSupport
import Testing

/// A local server accepts the exact bytes that the official server libraries send.
struct ServerLibraryTests {
    /// Connects a client that is signed in as the user ann and subscribed to `news` and `presence-room`.
    private func connect(to server: LocalServer) async throws -> RawWebSocket {
        let socket = try await RawWebSocket(port: server.port)
        _ = try await socket.receive()
        let socketID = try #require(server.connections.first?.socketID)
        for message in [
            ServerRig.signedSignIn(userData: #"{"id":"ann"}"#, socketID: socketID),
            ServerRig.signedSubscription(to: "presence-room", channelData: #"{"user_id":"ann"}"#, socketID: socketID),
            ServerRig.subscription(to: "#server-to-user-ann"), ServerRig.subscription(to: "news"),
        ] {
            try await socket.send(message)
            _ = try await socket.receive()
        }
        return socket
    }

    private func response(to request: String, from server: LocalServer) async throws -> String {
        let socket = try await RawWebSocket(port: server.port, path: nil)
        let parts = request.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let head = try #require(parts.first).replacing("\n", with: "\r\n")
        try await socket.write(Data("\(head)\r\n\r\n\(parts.dropFirst().first ?? "")".utf8))
        defer { socket.close() }
        let (status, body) = try await socket.readResponse()
        return "\(status) \(body)"
    }

    private static let bodies = [
        "trigger": "{}", "batch": "{}", "channels": #"{"channels":{"presence-room":{"user_count":1}}}"#,
        "channel": #"{"occupied":true,"subscription_count":1,"user_count":1}"#, "users": #"{"users":[{"id":"ann"}]}"#,
        "user": "{}", "terminate": "{}",
    ]

    /// Returns the messages that the client receives after a call.
    private static func received(after call: String, of library: String) -> [RawWebSocket.Message] {
        // Python's JSON has a space after each colon.
        let space = library == "python" ? " " : ""
        return switch call {
        case "trigger": [.text(#"{"event":"headline","channel":"news","data":"{\"text\":\#(space)\"héllo & good-bye\"}"}"#)]
        case "batch": [.text(#"{"event":"a","channel":"news","data":"{\"x\":\#(space)1}"}"#)]
        case "user": [.text(##"{"event":"hello","channel":"#server-to-user-ann","data":"{\"x\":\##(space)1}"}"##)]
        case "terminate": [.close(4009, "Terminated by app")]
        default: []
        }
    }

    // Proves P18.1.
    @Test(arguments: ["python", "node", "ruby"])
    func `Every call of the official server libraries is answered and takes effect`(library: String) async throws {
        let requests = [
            "python": ServerLibraryRequests.python, "node": ServerLibraryRequests.node, "ruby": ServerLibraryRequests.ruby,
        ]
        let server = try await LocalServer.start(
            settings: .init(wallClock: { Date(timeIntervalSince1970: 1_700_000_000) }, closeTimeout: .milliseconds(1)))
        let client = try await connect(to: server)
        for (call, request) in try #require(requests[library]) {
            #expect(try await response(to: request, from: server) == "200 \(Self.bodies[call] ?? "")", "\(call)")
            for message in Self.received(after: call, of: library) { #expect(try await client.receive() == message, "\(call)") }
        }
        await server.stop()
    }
}
