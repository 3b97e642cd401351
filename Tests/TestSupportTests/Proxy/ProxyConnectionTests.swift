#if os(Linux)
import Glibc
import Testing

@testable import TestSupport

@Suite struct ProxyConnectionTests {
    /// Calls `body` with both ends of a client's connection, the proxy's first, and with a buffer.
    private func withClient(_ body: (Int32, Int32, UnsafeMutableRawBufferPointer) throws -> Void) throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        defer { close(ends[1]) }
        try withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { try body(ends[0], ends[1], $0) }
    }

    @Test func `A reset acts at the client's first bytes, even if they come just before the wait`() throws {
        try withClient { proxys, clients, buffer in
            var connection = ProxyConnection(client: PlainStream(descriptor: proxys), to: [], faults: [], at: .origin)
            #expect(connection.advance(at: .origin, with: buffer) == .origin + .seconds(5))
            // The client's bytes arrive after the connection looked and before its thread waits: it must still wait for them.
            try #require(write(clients, "GET", 3) == 3)
            #expect(connection.isWaitingForClient)
            _ = connection.advance(at: .origin, with: buffer)
            #expect(connection.isOver)
        }
    }

    /// The stream of a TLS client, whose last bytes to send wait in the TLS session.
    private final class SecureStream: ProxyStream {
        let descriptor: Int32
        var hasUnsent = false
        let (hasReceived, isReady, hasRefused) = (true, true, false)
        var received: [Sockets.Received] = []
        private(set) var flushes = 0

        init(descriptor: Int32) {
            self.descriptor = descriptor
        }

        func receive(into buffer: UnsafeMutableRawBufferPointer) -> Sockets.Received { received.popLast() ?? .nothingYet }
        func send(_ queue: ByteQueue, atMost limit: Int) -> Sockets.Sent { .bytes(limit) }
        func sendCloseNotify() {}

        func flush() -> Sockets.Sent {
            flushes += 1
            return .broken
        }
    }

    @Test func `A connection whose client is gone is over although bytes are left to send`() throws {
        let loopback = try #require(SocketAddress(ip4: "127.0.0.1", port: 0))
        let listener = try Listener(loopback)
        defer { listener.close() }
        try withClient { proxys, _, buffer in
            let stream = SecureStream(descriptor: proxys)
            var connection = ProxyConnection(client: stream, to: [loopback.with(port: listener.port)], faults: [], at: .origin)
            stream.received = [.end]
            _ = connection.advance(at: .origin, with: buffer)
            #expect(connection.clientHasEnded && !connection.isOver)
            stream.hasUnsent = true
            _ = connection.advance(at: .origin, with: buffer)
            #expect(connection.isOver, "nobody would ever ask for it again")
        }
    }

    @Test func `A reset connection no longer uses its descriptor`() throws {
        try withClient { proxys, _, buffer in
            let stream = SecureStream(descriptor: proxys)
            var connection = ProxyConnection(client: stream, to: [], faults: [], at: .origin)
            stream.hasUnsent = true
            connection.reset()
            #expect(connection.advance(at: .origin, with: buffer) == nil)
            #expect(stream.flushes == 0)
        }
    }

    @Test func `A reset waits at most five seconds for a silent client`() throws {
        try withClient { proxys, _, buffer in
            var connection = ProxyConnection(client: PlainStream(descriptor: proxys), to: [], faults: [], at: .origin)
            _ = connection.advance(at: .origin, with: buffer)
            _ = connection.advance(at: .origin + .seconds(5), with: buffer)
            #expect(connection.isOver && !connection.isWaitingForClient)
        }
    }
}
#endif
