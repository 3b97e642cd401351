#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// Mistakes of a server, an endpoint or a user: each ends in a typed error, and the client stays usable.
@Suite struct BadInputTests {
    private static let established =
        #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"1.1\",\"activity_timeout\":120}"}"#

    // MARK: Connecting

    // Proves P5.1.
    @Test func aWrongKeyEndsTheConnectionForGood() async throws {
        let server = try await LocalServer.start()
        try await withWatchdog {
            let client = LiveClient(of: server, key: "wrong-key")
            client.pusher.connect()
            let error = try await client.error()
            #expect(error.kind == .server)
            #expect(error.code == 4001)
            try await client.recorder.next { $0 == .state(.disconnected) }
        }
        await server.stop()
    }

    // Proves P5.6.
    @Test func aPortWithNobodyIsTriedUntilSomebodyIsThere() async throws {
        let (port, held) = try HeldPort.take()
        defer { close(held) }
        let client = LiveClient(port: port)
        try await withWatchdog {
            client.pusher.connect()
            for _ in 0..<3 { try await client.expectError(.transport(.connectionRefused)) }
        }
        let server = try await LocalServer.start(port: port)
        try await withWatchdog {
            try await client.recorder.next { $0 == .state(.connected) }
        }
        client.pusher.disconnect()
        await server.stop()
    }

    // Proves P5.6.
    @Test func anUnknownHostIsTriedAgainToo() async throws {
        try await withWatchdog {
            let client = LiveClient(port: 80, host: "does-not-exist.invalid")
            client.pusher.connect()
            for _ in 0..<2 { try await client.expectError(.transport(.hostNotFound)) }
            #expect(client.pusher.connection.connectionState != .disconnected)
            client.pusher.disconnect()
        }
    }

    // Proves P5.11.
    @Test func withoutReconnectOneFailureIsTheEnd() async throws {
        let (port, descriptor) = try RawServer.refusingPort()
        defer { close(descriptor) }
        try await withWatchdog {
            let client = LiveClient(port: port, autoReconnect: false)
            client.pusher.connect()
            try await client.expectError(.transport(.connectionRefused))
            try await client.recorder.next { $0 == .state(.disconnected) }
        }
    }

    // MARK: The authorization endpoint

    // Proves P14.2.
    @Test(arguments: [
        ("/403", 403, "status 403"), ("/500", 500, "status 500"), ("/html", 200, "not JSON"), ("/empty", 200, "empty body"),
    ])
    func anEndpointOfNoUse(path: String, status: Int, problem: String) async throws {
        let server = try await LocalServer.start()
        server.router["/403"] = DataResponse(status: 403) { _ in Data("no".utf8) }
        server.router["/500"] = DataResponse(status: 500) { _ in Data("<html>".utf8) }
        server.router["/html"] = DataResponse(contentType: "text/html") { _ in Data("<html>log in</html>".utf8) }
        server.router["/empty"] = DataResponse { _ in Data() }
        try await withWatchdog {
            let client = LiveClient(of: server, authPath: path)
            try await client.connect()
            client.pusher.subscribe("private-orders")
            let error = try await client.error()
            #expect(error.kind == .authorization)
            #expect(error.code == status)
            #expect(error.message.contains(problem))
            try await client.subscribe("news")
        }
        await server.stop()
    }

    @Test func anEndpointThatHangsUp() async throws {
        let server = try await LocalServer.start()
        let endpoint = try RawServer { connection in _ = try connection.readRequest() }
        try await withWatchdog {
            let client = LiveClient(
                port: server.port, auth: .endpoint(authEndpoint: "http://127.0.0.1:\(endpoint.port)/auth"))
            try await client.connect()
            client.pusher.subscribe("private-orders")
            let error = try await client.error()
            #expect(error.kind == .authorization)
            #expect(error.message.contains("could not be asked"))
            try await client.subscribe("news")
        }
        withExtendedLifetime(endpoint) {}
        await server.stop()
    }

    // MARK: Messages from the server

    /// Connects a client to a server that sends these frames, and then an event `after`.
    private func hearing(
        _ frames: [Frame], _ check: @escaping @Sendable (LiveClient) async throws -> Void
    ) async throws {
        let server = try RawServer { connection in
            try connection.upgrade()
            try connection.send(.text(Self.established))
            for frame in frames { try connection.send(frame) }
            try connection.send(.text(#"{"event":"after","data":"ok"}"#))
            try connection.readToEnd()
        }
        try await withWatchdog {
            let client = LiveClient(port: server.port)
            client.pusher.connect()
            try await check(client)
            #expect(try await client.event("after") == "ok")
            #expect(client.pusher.connection.connectionState == .connected)
        }
        withExtendedLifetime(server) {}
    }

    // Proves P2.7.
    @Test(arguments: ["no json", "{", "[]", "7", "", "null", #"{"event":"#, #"{"event":7}"#, "{}", #"{"data":"x"}"#])
    func aFrameThatIsNoEvent(text: String) async throws {
        try await hearing([.text(text)]) { client in
            try await client.expectError(.malformedMessage)
        }
    }

    // Proves P2.7, P13.4.
    @Test func aBinaryFrame() async throws {
        try await hearing([.binary([1, 2, 3])]) { client in
            try await client.expectError(.malformedMessage)
        }
    }

    // Proves P2.4, P12.5.
    @Test func aFrameOfAMegabyte() async throws {
        let data = String(repeating: "x", count: 1 << 20)
        try await hearing([.text(#"{"event":"big","data":"\#(data)"}"#)]) { client in
            let received = try await client.event("big")
            #expect(received == data)
        }
    }

    // Proves P2.7, P2.8, P3.6.
    @Test func protocolEventsThatMakeNoSense() async throws {
        let frames = [
            #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"2.2\"}"}"#,
            #"{"event":"pusher_internal:subscription_succeeded","channel":"never-asked-for","data":"{}"}"#,
            #"{"event":"pusher_internal:member_added","channel":"presence-x","data":"{}"}"#,
            #"{"event":"pusher:error","data":null}"#, #"{"event":"pusher:unheard-of"}"#, #"{"event":""}"#,
        ]
        try await hearing(frames.map { .text($0) }) { client in
            _ = try await client.event("pusher:unheard-of")
            #expect(client.pusher.connection.socketId == "1.1")
        }
    }

    // MARK: Connections that end early

    @Test func whatWasReceivedBeforeTheEndIsDelivered() async throws {
        let connections = Locked(0)
        let server = try RawServer { connection in
            let number = connections.withLock { count in
                count += 1
                return count
            }
            try connection.upgrade()
            try connection.send(.text(Self.established))
            for event in 0..<100 { try connection.send(.text(#"{"event":"n","data":"\#(number)-\#(event)"}"#)) }
            if number == 2 { try connection.readToEnd() }
        }
        try await withWatchdog {
            let client = LiveClient(port: server.port)
            client.pusher.connect()
            for number in 1...2 {
                for event in 0..<100 {
                    let received = try await client.event("n")
                    #expect(received == "\(number)-\(event)")
                }
            }
        }
        withExtendedLifetime(server) {}
    }

    // Proves P5.6.
    @Test(arguments: [0, 1, 2])
    func aServerThatHangsUpDuringTheHandshake(stage: Int) async throws {
        let connections = Locked(0)
        let server = try RawServer { connection in
            let isFirst = connections.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst, stage == 0 { return }
            if isFirst, stage == 1 {
                _ = try connection.readRequest()
                return try connection.send("HTTP/1.1 101 Switching Pro")
            }
            try connection.upgrade()
            if isFirst { return }
            try connection.send(.text(Self.established))
            try connection.readToEnd()
        }
        try await withWatchdog {
            let client = LiveClient(port: server.port)
            client.pusher.connect()
            guard case .transport = try await client.error().kind else {
                Issue.record("no transport error")
                return
            }
            try await client.recorder.next { $0 == .state(.connected) }
        }
        withExtendedLifetime(server) {}
    }
}
#endif
