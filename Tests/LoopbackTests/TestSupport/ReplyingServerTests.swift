#if os(Linux)
import Foundation
import Processes
import Testing
import TestSupport

/// The tests' server that sends one reply, checked byte for byte.
@Suite struct ReplyingServerTests {
    private static let request = "GET /app HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private func client(of server: RawServer) throws -> RawClient {
        let client = try RawClient(port: server.port)
        client.send(Array(Self.request.utf8))
        return client
    }

    @Test(arguments: [(RawServer.Ending.finish, RawClient.End.finished), (.reset, .reset)])
    func `The tests' server ends its whole reply with a half-close or a reset, as told`(
        ending: RawServer.Ending, end: RawClient.End
    ) async throws {
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let received = Record<[UInt8]>()
        let server = try RawServer.replying(.bytes(bytes), then: ending, received: received)
        try await withWatchdog {
            let client = try client(of: server)
            let read = try await client.reads()
            // Compared outside the expectation, which would print all the bytes.
            let isWhole = read.bytes == bytes
            #expect(isWhole)
            #expect(read.end == end)
            guard ending == .finish else { return }
            // The server still reads.
            client.send([1, 2, 3])
            client.finish()
            #expect(await received.next() == [1, 2, 3])
        }
    }

    @Test(arguments: [
        (Cut.every(2), [2, 2, 2, 1]), (.at(0), [7]), (.at(3), [3, 4]), (.at(7), [7]), (.every(100), [7]), (.nowhere, [7]),
    ])
    func `The tests' server sends its reply in pieces of the given sizes`(cut: Cut, sizes: [Int]) async throws {
        let server = try RawServer.replying(.text("abcdefg"), cut: cut, then: .finish)
        try await withWatchdog {
            let client = try client(of: server)
            #expect(try await onThread { client.readPieces(7).map(\.count) } == sizes)
        }
    }
}
#endif
