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

    // Proves P18.7.
    @Test(
        arguments: [
            ("/app/local-key?protocol=7", 8, [0x03, 0xE8], 1000, ""),
            ("/app/nobody?protocol=7", 8, [0x0F, 0xA1], 4001, "App key nobody not in this cluster"),
            ("/app/local-key?protocol=7", 2, [1], 1003, "Binary messages are not supported"),
        ] as [(String, UInt8, [UInt8], UInt16, String)])
    func `A client that sends on after a close or a violation gets the server's close frame and a FIN`(
        path: String, opcode: UInt8, payload: [UInt8], code: UInt16, reason: String
    ) async throws {
        let server = try await start()
        let socket = try await RawWebSocket(port: server.port, path: path)
        try await socket.send(opcode: opcode, Data(payload))
        try await sendMore(by: socket)
        _ = try await socket.receive()
        #expect(try await socket.receive() == .close(code, reason))
        #expect(try await socket.endsWithFIN())
        socket.close()
        await server.stop()
    }

    /// The server closes first, because a client waits for that (RFC 6455, 7.1.1), and doesn't wait for the client to close.
    @Test func `A client that has sent a close frame gets the end of the connection at once`() async throws {
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
