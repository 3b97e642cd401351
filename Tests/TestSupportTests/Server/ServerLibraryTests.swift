import Foundation
import TestSupport
import Testing

/// A local server accepts the exact bytes that the official server libraries send.
struct ServerLibraryTests {
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)

    private func start() async throws -> LocalServer {
        try await LocalServer.start(settings: LocalServer.Settings(wallClock: { Self.date }, closeTimeout: .milliseconds(1)))
    }

    /// Connects a client that is signed in as the user ann and subscribed to `news` and `presence-room`.
    private func connect(to server: LocalServer) async throws -> RawWebSocket {
        let socket = try await RawWebSocket(port: server.port)
        _ = try await socket.receive()
        let socketID = try #require(server.connections.first?.socketID)
        let user = #"{"id":"ann"}"#
        let auth = try Signature.user(user, socketID: socketID, key: "local-key", secret: "local-secret")
        let signIn = JSONValue.object(["auth": .string(auth), "user_data": .string(user)])
        try await socket.send(JSONValue.object(["event": "pusher:signin", "data": signIn]).text)
        let member = #"{"user_id":"ann"}"#
        let presenceAuth = try Signature.channel(
            "presence-room", channelData: member, socketID: socketID, key: "local-key", secret: "local-secret")
        try await socket.send(ServerRig.subscription(to: "presence-room", auth: presenceAuth, channelData: member))
        try await socket.send(ServerRig.subscription(to: "#server-to-user-ann"))
        try await socket.send(ServerRig.subscription(to: "news"))
        for _ in 0..<4 { _ = try await socket.receive() }
        return socket
    }

    private func response(to request: String, from server: LocalServer) async throws -> (status: Int, body: String) {
        let socket = try await RawWebSocket(port: server.port, path: nil)
        let parts = request.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let head = try #require(parts.first).replacing("\n", with: "\r\n")
        try await socket.write(Data("\(head)\r\n\r\n\(parts.dropFirst().first ?? "")".utf8))
        defer { socket.close() }
        return try await socket.readResponse()
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
        case "trigger":
            [.text(#"{"event":"headline","channel":"news","data":"{\"text\":\#(space)\"héllo & good-bye\"}"}"#)]
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
        let server = try await start()
        let client = try await connect(to: server)
        for (call, request) in try #require(requests[library]) {
            let response = try await response(to: request, from: server)
            #expect(response.status == 200, "\(call): \(response.body)")
            #expect(response.body == Self.bodies[call], "\(call)")
            for message in Self.received(after: call, of: library) { #expect(try await client.receive() == message, "\(call)") }
        }
        await server.stop()
    }
}
