#if os(Linux)
import Foundation
import Processes
import PusherChannels
import TestSupport
import Testing

/// Clients that don't read what a local server sends them.
@Suite(.serialized) struct LocalServerSlowClientTests {
    private let events = ServerEvents(closeTimeout: .milliseconds(10))
    /// More than the system's buffers hold on both sides, though they are as many bytes as a message.
    private let data = String(repeating: "x", count: 1_000_000)

    private func start() async throws -> LocalServer {
        var profile = ServerProfile.hosted
        profile.maximumWaitingMessages = 5
        profile.maximumEventDataLength = 1_000_000
        return try await LocalServer.start(profile: profile, settings: events.settings)
    }

    /// Returns once the server has no connection any more, though the client reads nothing: the last socket at its port is what listens.
    private func waitUntilCut(_ server: LocalServer) async throws {
        try await withWatchdog {
            await pollTheSystem { ProcessTables.sockets(atPort: server.port).count == 1 }
        }
    }

    @Test func `A client that doesn't read is cut, though its close frame can't be sent`() async throws {
        let server = try await start()
        let socket = try await RawWebSocket(port: server.port)
        try await socket.send(ServerRig.subscription(to: "room"))
        for _ in 1...2 { _ = try await socket.receive() }
        for _ in 0..<25 { server.publish(channel: "room", event: "e", data: data) }
        #expect(server.connections.isEmpty)
        try await waitUntilCut(server)
        socket.close()
        await server.stop()
    }

    @Test func `So is one of a route of the test's own`() async throws {
        let server = try await start()
        let data = data
        server.router.onWebSocket("/feed") { _, _, play in
            for _ in 0..<25 { play(.send(data)) }
        }
        let socket = try await RawWebSocket(port: server.port, path: "/feed")
        try await waitUntilCut(server)
        socket.close()
        await server.stop()
    }

    /// A close frame or a FIN of the client ends not only the reading of what it sends, but the sending, too.
    @Test(arguments: [true, false]) func `So is one that only says that it goes`(byCloseFrame: Bool) async throws {
        var profile = ServerProfile.hosted
        profile.maximumEventDataLength = 1_000_000
        let server = try await LocalServer.start(profile: profile, settings: events.settings)
        let socket = try await RawWebSocket(port: server.port)
        try await socket.send(ServerRig.subscription(to: "room"))
        for _ in 1...2 { _ = try await socket.receive() }
        for _ in 0..<25 { server.publish(channel: "room", event: "e", data: data) }
        if byCloseFrame { try await socket.send(opcode: 8, Data([0x03, 0xE8])) } else { socket.finish() }
        try await waitUntilCut(server)
        socket.close()
        await server.stop()
    }

    /// Pongs wait, too, and take nobody's place.
    @Test func `A client that doesn't read and sends pings is told why it is closed`() async throws {
        var profile = ServerProfile.hosted
        profile.maximumWaitingMessages = 5
        let server = try await LocalServer.start(
            profile: profile, settings: ServerEvents(closeTimeout: .seconds(86_400)).settings)
        let socket = try await RawWebSocket(port: server.port)
        _ = try await socket.receive()
        let ping = Data(repeating: 0, count: 125)
        // More pongs than the system's buffers hold, and than may wait.
        var sent = 0
        while !server.connections.isEmpty {
            try await socket.send(opcode: 9, ping)
            sent += 1
            try #require(sent < 1_000_000)
        }
        var last = try await socket.receive()
        while case .pong = last { last = try await socket.receive() }
        #expect(last == .close(4100, "Too many messages wait for this client"))
        socket.close()
        await server.stop()
    }

    @Test func `Who reads hears why it is closed, however late the server comes to say it`() async throws {
        let server = try await LocalServer.start(settings: ServerEvents(closeTimeout: .zero).settings)
        var sockets: [RawWebSocket] = []
        for _ in 0..<30 {
            let socket = try await RawWebSocket(port: server.port)
            try await socket.send(ServerRig.subscription(to: "room"))
            for _ in 1...2 { _ = try await socket.receive() }
            sockets.append(socket)
        }
        for _ in 0..<100 { server.publish(channel: "room", event: "e", data: "x") }
        server.closeAll(code: 4200, reason: "restart")
        for socket in sockets {
            for _ in 0..<100 { _ = try await socket.receive() }
            #expect(try await socket.receive() == .close(4200, "restart"))
        }
        await server.stop()
    }

    @Test func `No server lets as much wait as there is, unless it is told to`() {
        for (name, profile) in ServerProfile.byName { #expect(profile.maximumWaitingMessages != nil, "\(name)") }
    }
}
#endif
