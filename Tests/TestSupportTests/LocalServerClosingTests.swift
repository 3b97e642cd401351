#if os(Linux)
import Foundation
import TestSupport
import Testing

/// After a close frame, a local server ends the connection with a FIN even if more data arrives, because a reset could discard
/// the frame.
struct LocalServerClosingTests {
    // The time-out is long, because these tests aren't about how long a client takes to close.
    private let events = ServerEvents(closeTimeout: .seconds(86_400))

    private func start() async throws -> LocalServer { try await LocalServer.start(settings: events.settings) }

    private let bye = Data([0x03, 0xE8])

    /// Sends more than the server reads at a time.
    private func sendMore(by socket: RawWebSocket) async throws {
        for _ in 0..<20 { try await socket.send(String(repeating: "x", count: 10_000)) }
    }

    @Test func `The client closes, and sends on`() async throws {
        let server = try await start()
        let socket = try await RawWebSocket(port: server.port)
        _ = try await socket.receive()
        try await socket.send(opcode: 8, bye)
        try await sendMore(by: socket)
        #expect(try await socket.receive() == .close(1000, ""))
        #expect(try await socket.endsWithFIN())
        socket.close()
        await server.stop()
    }

    // Proves P18.7.
    @Test func `The server closes, the client answers and sends on`() async throws {
        let server = try await start()
        let socket = try await RawWebSocket(port: server.port, path: "/app/nobody?protocol=7")
        try await socket.send(opcode: 8, Data([0x0F, 0xA1]))
        try await sendMore(by: socket)
        _ = try await socket.receive()
        #expect(try await socket.receive() == .close(4001, "App key nobody not in this cluster"))
        #expect(try await socket.endsWithFIN())
        socket.close()
        await server.stop()
    }

    @Test func `What breaks the protocol is told so, though it sends on`() async throws {
        let server = try await start()
        let socket = try await RawWebSocket(port: server.port)
        _ = try await socket.receive()
        try await socket.send(opcode: 2, Data([1]))
        try await sendMore(by: socket)
        #expect(try await socket.receive() == .close(1003, "Binary messages are not supported"))
        #expect(try await socket.endsWithFIN())
        socket.close()
        await server.stop()
    }

    /// The server closes first, because a client waits for that (RFC 6455, 7.1.1), and doesn't wait for the client to close.
    @Test func `A client that waits for the end gets it at once`() async throws {
        let server = try await start()
        let socket = try await RawWebSocket(port: server.port)
        _ = try await socket.receive()
        try await socket.send(opcode: 8, bye)
        #expect(try await socket.endsWithFIN())
        socket.close()
        await server.stop()
    }
}
#endif
