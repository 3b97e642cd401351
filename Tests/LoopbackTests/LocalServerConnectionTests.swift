#if os(Linux)
import Foundation
import Processes
import TestSupport
import Testing

/// Connections to a server that carry plain requests.
@Suite struct LocalServerConnectionTests {
    private func request(_ path: String, _ fields: String = "") -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n".utf8)
    }

    @Test func severalRequestsGoOverOneConnection() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.stub("/first", StubResponse(text: "one"))
            server.stub("/second", StubResponse(text: "two"))
            let client = try RawClient(port: server.port)
            var replies: [String] = []
            for path in ["/first", "/second"] {
                client.send(request(path))
                try await server.nextRequest("GET \(path)")
                var text = ""
                while !text.hasSuffix("one"), !text.hasSuffix("two") {
                    let (bytes, end) = try await client.reads(1)
                    text += String(decoding: bytes, as: UTF8.self)
                    guard end == .open, !bytes.isEmpty else { break }
                }
                replies.append(text)
            }
            #expect(replies.map { $0.hasPrefix("HTTP/1.1 200") } == [true, true], "\(replies)")
            #expect(replies.map { $0.suffix(3) } == ["one", "two"])
        }
    }

    /// A response's body doesn't wait for the acknowledgment of its head.
    @Test func whatIsSentIsSentAtOnce() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.stub("/first", StubResponse(text: "one"))
            let client = try RawClient(port: server.port)
            client.send(request("/first"))
            _ = try await client.reads(1)
            #expect(ProcessTables.sockets(atPort: server.port).count >= 2, "one listens")
            #expect(ProcessTables.delayingSockets(atPort: server.port) == 0)
        }
    }

    @Test func aClientMayAskForTheEnd() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.stub("/last", StubResponse(text: "bye"))
            let client = try RawClient(port: server.port)
            client.send(request("/last", "Connection: close\r\n"))
            let (bytes, end) = try await client.reads()
            #expect(String(decoding: bytes, as: UTF8.self).hasSuffix("bye"))
            #expect(end == .finished)
        }
    }
}
#endif
