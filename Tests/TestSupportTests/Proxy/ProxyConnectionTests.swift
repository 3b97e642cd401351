#if os(Linux)
import Glibc
import Testing

@testable import TestSupport

@Suite struct ProxyConnectionTests {
    /// Returns both ends of a client's connection.
    private func connection() throws -> (proxys: Int32, clients: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func `A reset acts at the client's first bytes, even if they come just before the wait`() throws {
        let (proxys, clients) = try connection()
        defer { close(clients) }
        var connection = ProxyConnection(client: PlainStream(descriptor: proxys), to: [], faults: [], at: .origin)
        try withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
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
        let (proxys, clients) = try connection()
        defer { close(clients) }
        let loopback = try #require(SocketAddress(ip4: "127.0.0.1", port: 0))
        let listener = try Listener(loopback)
        defer { listener.close() }
        let stream = SecureStream(descriptor: proxys)
        var connection = ProxyConnection(
            client: stream, to: [loopback.with(port: listener.port)], faults: [], at: Instant.origin)
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
            stream.received = [.end]
            _ = connection.advance(at: .origin, with: buffer)
            #expect(connection.clientHasEnded && !connection.isOver)
            stream.hasUnsent = true
            _ = connection.advance(at: .origin, with: buffer)
            #expect(connection.isOver, "nobody would ever ask for it again")
        }
    }

    @Test func `A reset connection no longer uses its descriptor`() throws {
        let (proxys, clients) = try connection()
        defer { close(clients) }
        let stream = SecureStream(descriptor: proxys)
        var connection = ProxyConnection(client: stream, to: [], faults: [], at: .origin)
        stream.hasUnsent = true
        connection.reset()
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
            #expect(connection.advance(at: .origin, with: buffer) == nil)
        }
        #expect(stream.flushes == 0)
    }

    @Test func `A reset waits at most five seconds for a silent client`() throws {
        let (proxys, clients) = try connection()
        defer { close(clients) }
        var connection = ProxyConnection(client: PlainStream(descriptor: proxys), to: [], faults: [], at: .origin)
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
            _ = connection.advance(at: .origin, with: buffer)
            _ = connection.advance(at: .origin + .seconds(5), with: buffer)
            #expect(connection.isOver)
            #expect(!connection.isWaitingForClient)
        }
    }
}
#endif
