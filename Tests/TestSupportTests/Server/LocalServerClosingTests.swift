#if os(Linux)
import Foundation
import TestSupport
import Testing

/// After a close frame, a local server ends the connection with a FIN even if more data arrives, because a reset could discard
/// the frame. It closes first, because a client waits for that (RFC 6455, 7.1.1), and doesn't wait for the client to close.
struct LocalServerClosingTests {
    private static let path = "/app/local-key?protocol=7"

    // Proves P18.7.
    @Test(
        arguments: [
            (path, 8, [0x03, 0xE8], false, .close(1000, "")), (path, 8, [0x03, 0xE8], true, .close(1000, "")),
            ("/app/nobody?protocol=7", 8, [0x0F, 0xA1], true, .close(4001, "App key nobody not in this cluster")),
            (path, 2, [1], true, .close(1003, "Binary messages are not supported")),
        ] as [(String, UInt8, [UInt8], Bool, RawWebSocket.Message)])
    func `A client gets the server's close frame and a FIN at once after a close or a violation, even if it sends on`(
        path: String, opcode: UInt8, payload: [UInt8], sendsOn: Bool, reply: RawWebSocket.Message
    ) async throws {
        // The time-out is long, because this isn't about how long a client takes to close.
        let server = try await LocalServer.start(settings: ServerEvents(closeTimeout: .seconds(86_400)).settings)
        let socket = try await RawWebSocket(port: server.port, path: path)
        try await socket.send(opcode: opcode, Data(payload))
        // More than the server reads at a time.
        if sendsOn { for _ in 0..<20 { try await socket.send(String(repeating: "x", count: 10_000)) } }
        _ = try await socket.receive()
        #expect(try await socket.receive() == reply)
        #expect(try await socket.endsWithFIN())
        socket.close()
        await server.stop()
    }
}
#endif
