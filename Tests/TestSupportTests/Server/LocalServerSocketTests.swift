import Foundation
import TestSupport
import Testing

struct LocalServerSocketTests {
    private typealias ID = ServerMachine.ConnectionID
    private let events = ServerEvents()

    private func start() async throws -> LocalServer { try await LocalServer.start(settings: events.settings) }

    private func receive(_ event: String, by socket: RawWebSocket) async throws {
        let message = try await socket.receive()
        guard case .text(let text) = message, text.contains(event) else {
            throw RawWebSocket.Failure(description: "\(message) instead of \(event)")
        }
    }

    /// Connects, and skips the message of the handshake.
    private func connect(to server: LocalServer) async throws -> RawWebSocket {
        let socket = try await RawWebSocket(port: server.port)
        try await receive("pusher:connection_established", by: socket)
        return socket
    }

    private func subscribe(_ socket: RawWebSocket, to channel: String) async throws {
        try await socket.send(ServerRig.subscription(to: channel))
        try await receive("subscription_succeeded", by: socket)
    }

    private let ping = #"{"event":"pusher:ping","data":{}}"#

    @Test func `A client connects, subscribes, and receives the published events in order`() async throws {
        let server = try await start()
        let socket = try await connect(to: server)
        try await subscribe(socket, to: "room")
        #expect(server.connections.map(\.channels) == [["room"]])
        #expect(server.subscribers(of: "room") == [ID(1)])
        for number in 0..<500 { server.publish(channel: "room", event: "e", data: "\(number)") }
        for number in 0..<500 {
            #expect(try await socket.receive() == .text(#"{"event":"e","channel":"room","data":"\#(number)"}"#))
        }
        socket.close()
        await server.stop()
    }

    /// A signature made for a connection before the server restarted must not be valid for a new connection.
    @Test func `Socket ids are random unless a seed is given`() async throws {
        var ids: [String] = []
        for seed in [nil, nil, 7, 7] as [UInt64?] {
            let server = try await LocalServer.start(seed: seed)
            let socket = try await connect(to: server)
            ids += server.connections.map(\.socketID)
            socket.close()
            await server.stop()
        }
        #expect(ids.count == 4 && Set(ids).count == 3 && ids[2] == ids[3], "\(ids)")
    }

    @Test(arguments: [false, true])
    func `A client that ends its stream or resets its connection is disconnected and leaves its channels`(resets: Bool)
        async throws
    {
        let server = try await start()
        let socket = try await connect(to: server)
        try await subscribe(socket, to: "room")
        if resets { socket.reset() } else { socket.finish() }
        try await events.wait(for: .unsubscribed(ID(1), channel: "room"))
        try await events.wait(for: .disconnected(ID(1)))
        #expect(server.connections.isEmpty)
        if !resets { #expect(try await socket.receive() == .end) }
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
            #expect(try await follower.receive() == .text(#"{"event":"pusher:pong","data":{}}"#), "round \(round)")
            follower.close()
        }
        for id in (1...80).map({ ID($0) }) where server.connections.contains(where: { $0.id == id }) {
            try await events.wait(for: .disconnected(id))
        }
        await server.stop()
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
        #expect(try await socket.receive() == .text(ping))
        scheduler.advance(by: .seconds(30))
        #expect(try await socket.receive() == .close(4201, "Pong reply not received"))
        socket.close()
        await server.stop()
        #expect(scheduler.pendingTimers.isEmpty)
    }

    @Test func `A silent client of Sockudo's protocol V2 is sent a ping frame, and not closed if it answers`() async throws {
        let scheduler = TestScheduler()
        let server = try await LocalServer.start(profile: .sockudoV2, settings: ServerEvents(scheduler: scheduler).settings)
        let socket = try await RawWebSocket(port: server.port, path: "/app/local-key?protocol=2")
        try await receive("sockudo:connection_established", by: socket)
        for isAnswered in [true, false] {
            scheduler.advance(by: .seconds(60))
            #expect(try await socket.receive() == .ping(""))
            if isAnswered { try await socket.send(opcode: 10, Data()) }
            // The answer to this comes after the server has heard the pong.
            try await socket.send(opcode: 9, Data("x".utf8))
            #expect(try await socket.receive() == .pong("x"))
        }
        scheduler.advance(by: .seconds(30))
        #expect(try await socket.receive() == .close(4201, "Pong reply not received in time"))
        socket.close()
        await server.stop()
    }
}
