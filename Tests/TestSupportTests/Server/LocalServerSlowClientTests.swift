#if os(Linux)
import Foundation
import Processes
import TestSupport
import Testing

/// Clients that don't read what a local server sends them.
@Suite(.serialized) struct LocalServerSlowClientTests {
    private let events = ServerEvents(closeTimeout: .milliseconds(10))
    /// One message of it may fit into the system's buffers; a few are more than they hold on both sides.
    private let data = String(repeating: "x", count: 1_000_000)

    private func start(waitingMessages: Int? = 5) async throws -> LocalServer {
        var profile = ServerProfile.hosted
        if let waitingMessages { profile.maximumWaitingMessages = waitingMessages }
        profile.maximumEventDataLength = 1_000_000
        return try await LocalServer.start(profile: profile, settings: events.settings)
    }

    private func subscribe(to server: LocalServer) async throws -> RawWebSocket {
        let socket = try await RawWebSocket(port: server.port)
        try await socket.send(ServerRig.subscription(to: "room"))
        for _ in 1...2 { _ = try await socket.receive() }
        return socket
    }

    /// Returns once the server has cut the connection, although the client reads nothing: then the listener is the only socket at
    /// the server's port.
    private func waitUntilCut(_ server: LocalServer) async throws {
        try await withWatchdog { await pollTheSystem { ProcessTables.sockets(atPort: server.port).count == 1 } }
    }

    /// What ends a connection: too many messages or bytes that wait, or the client's own close frame or FIN, which end not only the
    /// server's reading, but also its sending.
    enum End: CaseIterable, Sendable {
        case waitingMessages, waitingBytes, closeFrame, fin
    }

    @Test(arguments: End.allCases)
    func `A client that doesn't read is cut off even if the server's close frame can't be sent`(end: End) async throws {
        let server = try await start(waitingMessages: end == .waitingMessages ? 5 : nil)
        let socket = try await subscribe(to: server)
        for _ in 0..<(end == .waitingBytes ? 90 : 25) { server.publish(channel: "room", event: "e", data: data) }
        switch end {
        case .waitingMessages, .waitingBytes: #expect(server.connections.isEmpty)
        case .closeFrame: try await socket.send(opcode: 8, Data([0x03, 0xE8]))
        case .fin: socket.finish()
        }
        try await waitUntilCut(server)
        socket.close()
        await server.stop()
    }

    @Test func `A WebSocket route's client that doesn't read is cut off`() async throws {
        let server = try await start()
        server.router.onWebSocket("/feed") { [data] _, _, play in
            for _ in 0..<25 { play(.send(data)) }
        }
        let socket = try await RawWebSocket(port: server.port, path: "/feed")
        try await waitUntilCut(server)
        socket.close()
        await server.stop()
    }

    @Test func `A WebSocket route ends if 64 MiB wait for its client`() async throws {
        let server = try await start()
        let ended = Note<Void>()
        server.router.onWebSocket("/feed") { [data] _, messages, play in
            for _ in 0..<90 { play(.send(data)) }
            for await _ in messages {}
            ended.send(())
        }
        let socket = try await RawWebSocket(port: server.port, path: "/feed")
        try await withWatchdog { _ = await ended.next() }
        socket.close()
        await server.stop()
    }

    /// Pongs count as waiting messages, too, and must not take the place of the close frame.
    @Test func `A client that doesn't read and sends pings is told why it is closed`() async throws {
        var profile = ServerProfile.hosted
        profile.maximumWaitingMessages = 5
        let server = try await LocalServer.start(
            profile: profile, settings: ServerEvents(closeTimeout: .seconds(86_400)).settings)
        let socket = try await RawWebSocket(port: server.port)
        _ = try await socket.receive()
        // The pongs exceed both the system's buffers and the number of messages that may wait.
        var sent = 0
        while !server.connections.isEmpty {
            try await socket.send(opcode: 9, Data(repeating: 0, count: 125))
            sent += 1
            try #require(sent < 1_000_000)
        }
        var last = try await socket.receive()
        while case .pong = last { last = try await socket.receive() }
        #expect(last == .close(4100, "Too many messages wait for this client"))
        socket.close()
        await server.stop()
    }

    @Test func `A client that reads gets the close reason even if the close timeout is zero`() async throws {
        let server = try await LocalServer.start(settings: ServerEvents(closeTimeout: .zero).settings)
        var sockets: [RawWebSocket] = []
        for _ in 0..<30 { sockets.append(try await subscribe(to: server)) }
        for _ in 0..<100 { server.publish(channel: "room", event: "e", data: "x") }
        server.closeAll(code: 4200, reason: "restart")
        for socket in sockets {
            for _ in 0..<100 { _ = try await socket.receive() }
            #expect(try await socket.receive() == .close(4200, "restart"))
        }
        await server.stop()
    }
}
#endif
