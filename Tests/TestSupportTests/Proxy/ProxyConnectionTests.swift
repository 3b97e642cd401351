#if os(Linux)
import Glibc
import PusherChannels
import Testing

@testable import TestSupport

@Suite struct ProxyConnectionTests {
    /// Both ends of a client's connection.
    private func connection() throws -> (proxys: Int32, clients: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func aResetComesWithTheFirstWordThoughThatComesBeforeTheWait() throws {
        let (proxys, clients) = try connection()
        defer { close(clients) }
        var connection = ProxyConnection(client: PlainStream(descriptor: proxys), to: [], faults: [], at: .origin)
        try withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
            #expect(connection.advance(at: .origin, with: buffer) == .origin + .seconds(5))
            // After the look, before the thread waits: it must still wait for the client's word, which is there.
            try #require(write(clients, "GET", 3) == 3)
            #expect(connection.isWaitingForClient)
            _ = connection.advance(at: .origin, with: buffer)
            #expect(connection.isOver)
        }
    }

    @Test func aResetWaitsForASilentClientForSomeTimeOnly() throws {
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
