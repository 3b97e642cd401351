import Foundation
import TestSupport
import Testing

struct LocalServerSocketTests {
    private typealias ID = ServerMachine.ConnectionID
    private let events = ServerEvents()

    private func start() async throws -> LocalServer {
        try await LocalServer.start(settings: events.settings)
    }

    /// Connects, and skips the message of the handshake.
    private func connect(to server: LocalServer) async throws -> RawWebSocket {
        let socket = try await RawWebSocket(port: server.port)
        let first = try await socket.receive()
        guard case .text(let text) = first, text.contains("pusher:connection_established") else {
            throw RawWebSocket.Failure(description: "not established: \(first)")
        }
        return socket
    }

    private func subscribe(_ socket: RawWebSocket, to channel: String) async throws {
        try await socket.send(ServerRig.subscription(to: channel))
        let reply = try await socket.receive()
        guard case .text(let text) = reply, text.contains("subscription_succeeded") else {
            throw RawWebSocket.Failure(description: "not subscribed: \(reply)")
        }
    }

    private let ping = #"{"event":"pusher:ping","data":{}}"#
    private let pong = RawWebSocket.Message.text(#"{"event":"pusher:pong","data":{}}"#)

    @Test func `A client connects, subscribes, and receives the published events in order`() async throws {
        let server = try await start()
        let socket = try await connect(to: server)
        try await subscribe(socket, to: "room")
        #expect(server.connections.map(\.channels) == [["room"]])
        #expect(server.subscribers(of: "room") == [ID(1)])
        for number in 0..<500 { server.publish(channel: "room", event: "e", data: "\(number)") }
        for number in 0..<500 {
            #expect(try await socket.receive() == .text("{\"event\":\"e\",\"channel\":\"room\",\"data\":\"\(number)\"}"))
        }
        await stop(server, socket)
    }

    /// A signature made for a connection before the server restarted must not be valid for a new connection.
    @Test func `Socket ids are random unless a seed is given`() async throws {
        var ids: [String] = []
        for seed in [nil, nil, 7, 7] as [UInt64?] {
            let server = try await LocalServer.start(seed: seed)
            let socket = try await connect(to: server)
            ids += server.connections.map(\.socketID)
            await stop(server, socket)
        }
        #expect(ids.count == 4)
        #expect(Set(ids).count == 3 && ids[2] == ids[3], "\(ids)")
    }

    /// Stops the server while the client answers the close frame, as a proper client does.
    private func stop(_ server: LocalServer, _ sockets: RawWebSocket...) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await server.stop() }
            for socket in sockets {
                group.addTask {
                    while let message = try? await socket.receive(), message != .end {
                        guard case .close = message else { continue }
                        try? await socket.send(opcode: 8, Data([0x03, 0xE9]))
                    }
                }
            }
        }
    }

    @Test func `A client that only ends its stream is disconnected`() async throws {
        let server = try await start()
        let socket = try await connect(to: server)
        socket.finish()
        try await events.wait(for: .disconnected(ID(1)))
        #expect(server.connections.isEmpty)
        #expect(try await socket.receive() == .end)
        await server.stop()
    }

    @Test func `A client that resets its connection is disconnected and leaves its channels`() async throws {
        let server = try await start()
        let socket = try await connect(to: server)
        try await subscribe(socket, to: "room")
        socket.reset()
        try await events.wait(for: .unsubscribed(ID(1), channel: "room"))
        try await events.wait(for: .disconnected(ID(1)))
        #expect(server.connections.isEmpty)
        await server.stop()
    }

    @Test func `A client that resets while it is sent to does no harm to later connections`() async throws {
        let server = try await start()
        for round in 0..<40 {
            let socket = try await connect(to: server)
            try await subscribe(socket, to: "room")
            for _ in 0..<20 { server.publish(channel: "room", event: "e", data: String(repeating: "x", count: 5_000)) }
            socket.reset()
            for _ in 0..<20 { server.publish(channel: "room", event: "e", data: "after") }
            // Its descriptor probably has the number of the previous connection's.
            let follower = try await connect(to: server)
            try await follower.send(ping)
            #expect(try await follower.receive() == pong, "round \(round)")
            follower.close()
        }
        for number in 1...80 { try await waitUntilGone(ID(number), of: server) }
        await server.stop()
    }

    private func waitUntilGone(_ id: ID, of server: LocalServer) async throws {
        guard server.connections.contains(where: { $0.id == id }) else { return }
        try await events.wait(for: .disconnected(id))
    }

    @Test func `Stopping a server closes every connection with a code and a reason`() async throws {
        let server = try await start()
        let sockets = [try await connect(to: server), try await connect(to: server)]
        async let stopped: Void = server.stop()
        for socket in sockets {
            #expect(try await socket.receive() == .close(1001, "Server stopped"))
            try await socket.send(opcode: 8, Data([0x03, 0xE9]))
            #expect(try await socket.receive() == .end)
        }
        await stopped
        #expect(server.connections.isEmpty)
    }

    @Test func `Closing all connections uses the given code, and the server accepts new ones`() async throws {
        let server = try await start()
        let socket = try await connect(to: server)
        server.closeAll(code: 4200, reason: "restart")
        server.closeAll(code: 4100, reason: "once is enough")
        #expect(try await socket.receive() == .close(4200, "restart"))
        try await socket.send(opcode: 8, Data([0x10, 0x68]))
        #expect(try await socket.receive() == .end)
        let again = try await connect(to: server)
        server.close(ID(2), code: 4001, reason: String(repeating: "é", count: 100))
        #expect(try await again.receive() == .close(4001, String(repeating: "é", count: 61)))
        try await again.send(opcode: 8, Data([0x0F, 0xA1]))
        #expect(try await again.receive() == .end)
        await server.stop()
    }

    @Test func `A silent client is pinged and closed by the server's scheduler`() async throws {
        let scheduler = TestScheduler()
        let events = ServerEvents(scheduler: scheduler)
        var profile = ServerProfile.hosted
        profile.idleTimeout = .seconds(60)
        let server = try await LocalServer.start(profile: profile, settings: events.settings)
        let socket = try await connect(to: server)
        scheduler.advance(by: .seconds(60))
        #expect(try await socket.receive() == .text(#"{"event":"pusher:ping","data":{}}"#))
        scheduler.advance(by: .seconds(30))
        #expect(try await socket.receive() == .close(4201, "Pong reply not received"))
        socket.close()
        await server.stop()
        #expect(scheduler.pendingTimers.isEmpty)
    }
}
