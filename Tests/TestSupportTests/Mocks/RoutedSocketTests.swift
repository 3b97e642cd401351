import Foundation
import Testing

@testable import TestSupport

/// WebSocket routes that a test defines.
struct RoutedSocketTests {
    private enum Refusal: Error { case refused }

    private func withServer(
        allowing allowed: Set<Finding.Kind> = [], closeTimeout: Duration = .seconds(1),
        _ body: (TestHarness, LocalServer) async throws -> Void
    ) async throws {
        try await withTestHarness(allowing: allowed) { harness in
            try await body(harness, try await harness.startServer(settings: LocalServer.Settings(closeTimeout: closeTimeout)))
        }
    }

    /// Answers the server's close frame, and waits for the end.
    private func finish(_ socket: RawWebSocket) async throws {
        try await socket.send(opcode: 8, Data([0x03, 0xE8]))
        #expect(try await socket.receive() == .end)
    }

    @Test func `A WebSocket route exchanges messages with each client`() async throws {
        try await withServer { _, server in
            server.router.onWebSocket("/rooms/{name}") { request, messages, play in
                play(.establish())
                play(.send("welcome to \(request.pathParameters["name"] ?? "")"))
                for await message in messages {
                    if message == "bye" { return }
                    play(.event("echo", channel: "c", data: message))
                }
            }
            for name in ["a", "b"] {
                let socket = try await RawWebSocket(port: server.port, path: "/rooms/\(name)")
                let first = try await socket.receive()
                #expect("\(first)".contains("pusher:connection_established"))
                #expect(try await socket.receive() == .text("welcome to \(name)"))
                try await socket.send("hello")
                #expect(try await socket.receive() == .text(#"{"event":"echo","channel":"c","data":"hello"}"#))
                try await socket.send("bye")
                #expect(try await socket.receive() == .close(1000, ""))
                try await finish(socket)
            }
            #expect(server.connections.isEmpty)
        }
    }

    @Test func `A binary message ends a WebSocket route's connection with 1003, whatever the profile`() async throws {
        try await withTestHarness { harness in
            for (name, profile) in ServerProfile.byName {
                // The server doesn't hang up before the second message is sent, however busy the machine is.
                let settings = LocalServer.Settings(closeTimeout: .seconds(600))
                let server = try await harness.startServer(profile: profile, settings: settings)
                server.router.onWebSocket("/echo") { _, messages, play in
                    for await message in messages { play(.send(message)) }
                }
                let socket = try await RawWebSocket(port: server.port, path: "/echo")
                try await socket.send(opcode: 2, Data([0xFF]))
                try await socket.send("after")
                let answer = try await socket.receive()
                #expect(answer == .close(1003, "Binary messages are not supported"), "\(name)")
                socket.close()
            }
        }
    }

    @Test func `An error thrown by a WebSocket route after its client has gone is found`() async throws {
        for _ in 0..<20 {
            let failure = await #expect(throws: TestFailure.self) {
                // The time-out is long, because this test isn't about how long a busy machine takes.
                try await withServer(closeTimeout: .seconds(600)) { _, server in
                    server.router.onWebSocket("/checks") { _, messages, _ in
                        for await _ in messages {}
                        for _ in 0..<5 { await Task.detached {}.value }
                        throw Refusal.refused
                    }
                    let socket = try await RawWebSocket(port: server.port, path: "/checks")
                    try await socket.send(opcode: 8, Data([0x03, 0xE8]))
                    _ = try await socket.receive()
                }
            }
            #expect(failure?.findings.map(\.kind) == [.error])
        }
    }

    @Test func `A WebSocket route closes with its own code, with 1011 if it throws, or without a close frame if it drops`()
        async throws
    {
        try await withServer(allowing: [.error]) { _, server in
            server.router.onWebSocket("/own") { _, _, play in
                play(.close(code: 4001, reason: "own"))
                play(.send("nothing follows"))
            }
            server.router.onWebSocket("/error") { _, _, _ in throw Refusal.refused }
            for (path, expected) in [("/own", RawWebSocket.Message.close(4001, "own")), ("/error", .close(1011, "refused"))] {
                let socket = try await RawWebSocket(port: server.port, path: path)
                #expect(try await socket.receive() == expected)
                try await finish(socket)
            }
        }
        // That a route drops its connection is no error.
        try await withServer { _, server in
            server.router.onWebSocket("/drop") { _, messages, play in
                play(.drop)
                for await _ in messages {}
            }
            let end = try await RawWebSocket(port: server.port, path: "/drop").receive()
            #expect(end == .end)
        }
    }

    @Test func `A WebSocket route's conversation ends with the connection or when the server stops`() async throws {
        let (ends, ended) = AsyncStream<Void>.makeStream()
        try await withServer { _, server in
            server.router.onWebSocket("/") { _, messages, _ in
                for await _ in messages {}
                ended.yield()
            }
            let socket = try await RawWebSocket(port: server.port, path: "/")
            socket.close()
            for await _ in ends { break }
            // When the server stops, an open connection gets a close frame.
            let other = try await RawWebSocket(port: server.port, path: "/")
            async let stopped: Void = server.stop()
            #expect(try await other.receive() == .close(1001, "the server is being stopped"))
            try await finish(other)
            await stopped
        }
    }

    @Test func `A client that closes is answered with its own code even if the route closes later`() async throws {
        try await withServer { _, server in
            server.router.onWebSocket("/") { _, messages, play in
                for await _ in messages {}
                play(.close(code: 4001, reason: "too late"))
            }
            let socket = try await RawWebSocket(port: server.port, path: "/")
            try await socket.send(opcode: 8, Data([0x0F, 0xA2]))
            #expect(try await socket.receive() == .close(4002, ""))
            #expect(try await socket.receive() == .end)
        }
    }

    @Test func `An injected frame and the closing of all connections reach the clients of WebSocket routes, too`() async throws {
        // The time-out is long, because this test isn't about how long a busy machine takes.
        try await withServer(closeTimeout: .seconds(600)) { _, server in
            server.router.onWebSocket("/") { _, messages, _ in
                for await _ in messages {}
            }
            let early = try await RawWebSocket(port: server.port, path: "/")
            try server.inject(.malformedFrame(.oversizedControl))
            let late = try await RawWebSocket(port: server.port, path: "/")
            server.closeAll(code: 4200, reason: "restart")
            for socket in [early, late] {
                #expect(try await socket.receive() == .ping(String(repeating: "x", count: 126)))
                #expect(try await socket.receive() == .close(4200, "restart"))
                try await finish(socket)
            }
        }
    }

    @Test func `A script step that a WebSocket route can't do is found`() async throws {
        let failure = await #expect(throws: TestFailure.self) {
            try await withServer { _, server in
                server.router.onWebSocket("/") { _, _, play in play(.expect("hello")) }
                let socket = try await RawWebSocket(port: server.port, path: "/")
                #expect(try await socket.receive() == .close(1000, ""))
                try await finish(socket)
            }
        }
        #expect(failure?.findings == [Finding(.error, "a WebSocket route of a server can't do this step: expect hello")])
    }
}
