#if os(Linux)
import Glibc
import PusherChannels
import Foundation
import Processes
import TestSupport
import Testing

/// Connections to a server that carry plain requests.
@Suite struct LocalServerConnectionTests {
    private func request(_ path: String, _ fields: String = "") -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n".utf8)
    }

    /// A body that a client doesn't expect would be the beginning of the next response. The last one ends the connection.
    @Test func `The local server sends no body with 204, 304 or 100, or in response to HEAD`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.stub("/text", StubResponse(text: "hello"))
            for status in [204, 304] { server.stub("/\(status)", StubResponse(status: status, text: "none")) }
            let client = try RawClient(port: server.port)
            let head = Array("HEAD /text HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            let post = Array("POST /text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n".utf8)
            client.send(head + request("/204") + request("/304") + post)
            var text = ""
            while !text.contains("HTTP/1.1 100") {
                let (bytes, end) = try await client.reads(1)
                text += String(decoding: bytes, as: UTF8.self)
                guard end == .open, !bytes.isEmpty else { break }
            }
            client.send(Array("x".utf8) + request("/text", "Connection: close\r\n"))
            let (rest, end) = try await client.reads()
            text += String(decoding: rest, as: UTF8.self)
            #expect(end == .finished, "the client asked for that")
            let statuses = text.matches(of: #/HTTP/1\.1 (\d+)/#).map { String($0.1) }
            #expect(statuses == ["200", "204", "304", "100", "200", "200"], "\(text)")
            #expect(text.components(separatedBy: "hello").count == 3 && !text.contains("none"), "\(text)")
        }
    }

    /// A response's body doesn't wait for the acknowledgment of its head.
    @Test func `The local server's sockets send without Nagle's delay`() async throws {
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
}

@Suite struct LocalServerPortTests {
    /// Repeated, because a server may be stopped before it has waited for its first connection.
    @Test func `A stopped server's port is free even if a child process holds a copy of the listener`() async throws {
        let (port, held) = try HeldPort.take()
        defer { close(held) }
        for _ in 1...20 {
            let server = try await LocalServer.start(port: port)
            let inherited = dup(try #require(ProcessTables.descriptors(listeningAt: port).first))
            defer { close(inherited) }
            await server.stop()
        }
    }

    @Test func `A local server's listener and connections aren't inherited by child processes`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            let client = try RawClient(port: server.port)
            client.send(Array("GET /".utf8))
            let sockets = { @Sendable in ProcessTables.descriptors(at: server.port) }
            try await harness.eventually("it has a listener and a connection", within: .zero) { sockets().count == 2 }
            #expect(sockets().filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 } == [])
        }
    }
}
#endif
