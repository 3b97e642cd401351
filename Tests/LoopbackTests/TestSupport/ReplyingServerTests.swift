#if os(Linux)
import Foundation
import Processes
import Testing
import TestSupport

/// The tests' server that sends one reply, checked byte for byte.
@Suite struct ReplyingServerTests {
    // The example of RFC 6455, 1.3.
    private static let request =
        "GET /app HTTP/1.1\r\nHost: localhost\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    private static let head = """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
        \r

        """

    private func client(of server: RawServer, on address: Loopback = .ipv4) throws -> RawClient {
        let client = try RawClient(port: server.port, on: address)
        client.send(Array(Self.request.utf8))
        return client
    }

    @Test(arguments: Loopback.allCases) func `The tests' server grants an upgrade, and records the bytes that follow`(
        address: Loopback
    ) async throws {
        let received = Record<[UInt8]>()
        let frame = Frame.text("hello").bytes
        let server = try RawServer.replying(followedBy: frame, on: address, received: received)
        try await withWatchdog {
            let client = try client(of: server, on: address)
            let read = try await client.reads(Self.head.utf8.count + frame.count)
            #expect(read.bytes == Array(Self.head.utf8) + frame)
            client.send([1, 2, 3])
            client.finish()
            #expect(await received.next() == [1, 2, 3])
            #expect(server.requests.all == [Self.request])
            #expect(try await client.reads().end == .finished)
        }
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

    @Test func `The tests' server sends its reply and records bytes over TLS, too`() async throws {
        let received = Record<[UInt8]>()
        let server = try RawServer.replying(
            .text("answer"), followedBy: [10], cut: .every(2), then: .finish, tls: .throwaway, received: received)
        try await withWatchdog {
            let authority = try #require(server.tlsProxy?.certificateAuthority)
            let client = try await TLSClient.connect(
                to: server.port, saying: #"printf 'GET / HTTP/1.1\r\n\r\nrest'"#, "-verify_return_error", "-CAfile",
                try authority.file().path)
            #expect(client.output == "answer")
            #expect(server.requests.all == ["GET / HTTP/1.1\r\n\r\n"])
            #expect(await received.next() == Array("rest".utf8))
        }
    }
}
#endif
