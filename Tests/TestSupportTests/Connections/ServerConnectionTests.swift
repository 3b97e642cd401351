#if os(Linux)
import Glibc
import Testing

@testable import TestSupport

/// The server's end of a connection, without the server's thread.
struct ServerConnectionTests {
    private struct Silence: WebSocketSession {
        let queue: FrameQueue

        func receive(_ message: ClientMessage) {}
        func end(saying reply: OutgoingFrame?) { queue.finish() }
    }

    @Test func `Nothing is sent by a descriptor that was closed, which may be another connection's by then`() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        let terms = ServerTerms(
            limit: 1_000, closeTimeout: .seconds(1), reply: { _ in .response(.ok) }, refuse: { _, _ in })
        let connection = ServerConnection(ends[0], terms, handOver: { _ in }, wake: {})
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000, alignment: 1)
        defer { buffer.deallocate() }
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(send(ends[1], request, request.utf8.count, 0) == request.utf8.count)
        connection.advance(at: .origin, with: buffer)
        let given = Locked<FrameQueue?>(nil)
        let reply = ServerReply.upgrade(accept: "") { queue in
            given.withLock { $0 = queue }
            return Silence(queue: queue)
        }
        connection.take(reply, at: .origin)
        let queue = try #require(given.withLock { $0 })
        connection.advance(at: .origin, with: buffer)
        for _ in 0..<3 { queue.append(.text(String(repeating: "x", count: 1 << 16))) }
        close(ends[1])
        connection.advance(at: .origin, with: buffer)
        #expect(connection.polled.fd == -1)
        #expect(queue.size > 2 << 16, "the other two frames are nobody's")
    }

    @Test(arguments: [false, true])
    func `A port where accepting failed accepts again after ten milliseconds, unless it is to close`(closes: Bool) async throws {
        var listener = try Listener(try #require(SocketAddress(ip4: "127.0.0.1", port: 0)))
        // Accepting fails at a port that is only held.
        try listener.refuse()
        let ends = Locked(0)
        let terms = ServerTerms(
            limit: 1_000, closeTimeout: .seconds(1), endsIfDeaf: closes, reply: { _ in .response(.ok) }, refuse: { _, _ in })
        var sockets = ServerSockets(listener, inbox: try SocketInbox<ServerSockets>(), terms) { _ in ends.withLock { $0 += 1 } }
        defer { sockets.close() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000, alignment: 1)
        defer { buffer.deallocate() }
        sockets.turn(at: .origin, with: buffer)
        #expect(ends.withLock { $0 } == (closes ? 1 : 0))
        #expect(sockets.nextWake == (closes ? nil : Instant.milliseconds(10)))
        #expect(sockets.polled().map(\.fd) == [-1])
        guard !closes else { return }
        try listener.resume()
        let client = try await RawWebSocket(port: Int(listener.port), path: nil)
        sockets.turn(at: .milliseconds(9), with: buffer)
        #expect(sockets.counts == 0)
        sockets.turn(at: .milliseconds(10), with: buffer)
        #expect(sockets.counts == 1)
        client.close()
    }
}
#endif
