#if os(Linux)
import Foundation
import Glibc
import Processes
import Testing

/// The lines that `serve` prints about requests of unknown clients.
@Suite(.serialized) struct ServeOutputTests {
    /// A client can't move a terminal's cursor or begin a new line.
    @Test func whatStrangersSendStaysOnItsLine() async throws {
        try await withWatchdog {
            let (serve, port) = try await Command.server()
            for request in [
                "GET /app/%1b]0;PWNED%07%1b[31mred%0aconnection%201%20subscribed?protocol=7 HTTP/1.1\r\nUpgrade: websocket\r\n"
                    + "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n",
                "GET /\u{1B}[31mred HTTP/1.1\r\n", "G\u{1B}ET / HTTP/1.1\r\n",
            ] {
                let client = try RawClient(port: port)
                client.send(Array((request + "Host: 127.0.0.1\r\nContent-Length: 0\r\n\r\n").utf8))
                #expect(try await client.reads(1).bytes.count == 1)
            }
            serve.signal(SIGTERM)
            #expect(await serve.end() == .exit(0))
            let errors = await serve.errors.toEnd()
            #expect(errors.contains { $0.contains("PWNED") && $0.contains("red") }, "\(errors)")
            for line in errors {
                #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(line.debugDescription)")
                #expect(!line.hasPrefix("connection 1 subscribed"))
            }
        }
    }

    @Test func anAddressOfWebhooksKeepsItsSecrets() async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            defer { close(refusing.descriptor) }
            let serve = try Command(
                "serve", "--port", "0", "--webhook", "http://user:s3cretpw@127.0.0.1:\(refusing.port)/hook?token=t0ken")
            let line = try await serve.output.next(containing: "listening on")
            let listen = try Command("listen", "news", "--port", String(try #require(line.split(separator: ":").last)))
            let failure = try await serve.errors.next(containing: "webhook with channel_occupied to ")
            #expect(failure.contains("127.0.0.1:\(refusing.port)/hook") && failure.contains("refused"), "\(failure)")
            for secret in ["user", "s3cretpw", "t0ken"] { #expect(!failure.contains(secret), "\(failure)") }
            withExtendedLifetime(listen) {}
        }
    }
}
#endif
