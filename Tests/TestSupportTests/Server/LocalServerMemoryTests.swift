#if LocalServer
import Foundation
import Testing

@testable import TestSupport

/// A long-running server doesn't fill the memory.
@Suite struct LocalServerMemoryTests {
    private func post(_ body: String, chunked: Bool = false, to server: LocalServer) async throws -> Int {
        let socket = try await RawWebSocket(port: server.port, path: nil)
        let rest =
            chunked
            ? "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
            : "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        try await socket.write(Data("POST /apps/1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\(rest)".utf8))
        return try await socket.readResponse().status
    }

    private func start(isForgetful: Bool = true, profile: ServerProfile = .hosted) async throws -> LocalServer {
        var settings = LocalServer.Settings()
        settings.isForgetful = isForgetful
        return try await LocalServer.start(profile: profile, settings: settings)
    }

    /// A server under load keeps more keys of publishes than it may forget.
    @Test(.timeLimit(.minutes(1))) func `A value that is kept for a time costs the same with any number of others`() {
        var values = ExpiringValues<Int>()
        for number in 0..<30_000 {
            let key = ServerMachine.ChannelKey(appKey: "key", name: Name("\(number)"))
            values.keep(number, of: key, until: .origin + .seconds(1), at: .origin)
        }
        #expect(values.count == 30_000)
    }

    @Test func `A forgetful server records no requests`() async throws {
        let server = try await start()
        #expect(try await post("{}", to: server) == 401)
        #expect(try await server.ask("/nowhere").hasPrefix("404 "))
        #expect(server.requests.isEmpty && server.unmatchedRequests.isEmpty)
        await server.stop()
    }

    /// A batch contains JSON as text, in which each quotation mark takes two bytes.
    @Test func `A forgetful server accepts the largest batch of its profile`() async throws {
        let server = try await start(profile: .soketi)
        let status = try await post(String(repeating: "x", count: 2_100_000), to: server)
        #expect(status == 200, "soketi says in the body that nothing is signed")
        await server.stop()
    }

    @Test(arguments: [false, true])
    func `Only a forgetful server closes with 1009 when a message's parts exceed the limit`(isForgetful: Bool) async throws {
        let server = try await start(isForgetful: isForgetful)
        let socket = try await RawWebSocket(port: server.port)
        _ = try await socket.receive()
        for opcode: UInt8 in [1, 0] {
            try await socket.send(opcode: opcode, Data(repeating: UInt8(ascii: "x"), count: 600_000), isFinal: false)
        }
        if !isForgetful { try await socket.send(opcode: 9, Data()) }
        let refusal = RawWebSocket.Message.close(1009, "message of more than \(server.core.largestBody) bytes")
        #expect(try await socket.receive() == (isForgetful ? refusal : .pong("")))
        socket.close()
        await server.stop()
    }

    @Test(arguments: [false, true])
    func `A forgetful server refuses a request body over the HTTP API's limit with 413`(chunked: Bool) async throws {
        let server = try await start()
        for (excess, status) in [(0, 401), (1, 413)] {
            let body = String(repeating: "x", count: server.core.largestBody + excess)
            #expect(try await post(body, chunked: chunked, to: server) == status)
        }
        await server.stop()
    }

    @Test func `Expired events of cache channels are released, and others stay`() {
        var machine = ServerMachine()
        let lifetime = machine.profile.cacheLifetime
        for number in 0..<1000 {
            machine.now = .origin + lifetime * number
            machine.publish(channel: "cache-\(number)", event: "e", data: "{}")
        }
        #expect(machine.cache.count <= 16)
        for number in 0..<1000 { machine.publish(channel: "cache-\(number)", event: "e", data: "{}") }
        #expect(machine.cache.count >= 1000)
    }

    @Test func `Socket ids of closed connections are released, and no id is given to two open ones`() {
        var machine = ServerMachine(socketIDs: ["1.1", "1.1", "2.2", "2.2"])
        for number in 1...100 {
            let id = ServerMachine.ConnectionID(number)
            machine.handle(.opened(id, path: "/app/local-key?protocol=7"), at: .origin)
            if number == 2 { #expect(machine.connections[id]?.socketID != "1.1") }
            if number > 2 { machine.handle(.closed(id), at: .origin) }
        }
        #expect(machine.socketIDsInUse.count == 2)
    }
}
#endif
