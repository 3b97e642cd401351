#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// TLS that the proxy terminates, as OpenSSL's own tool sees it.
@Suite(.watchdog) struct NetworkFaultProxyTLSTests {
    @Test func `The fault proxy's certificate is trusted only by clients that trust its authority`() async throws {
        let rig = try ProxyRig(tls: .throwaway) { _ = try $0.readRequest() }
        #expect(rig.proxy.url.scheme == "https")
        #expect(rig.proxy.webSocketURL.scheme == "wss")
        let file = try #require(rig.proxy.certificateAuthority).file().path
        let friend = try await TLSClient.connect(
            to: rig.proxy.port, "-verify_return_error", "-verify_hostname", "localhost", "-CAfile", file)
        #expect(friend.remarks.contains("Verification: OK"))
        let stranger = try await TLSClient.connect(to: rig.proxy.port, "-verify_return_error")
        #expect(stranger.version == nil && stranger.remarks.contains("certificate verify failed"))
    }

    @Test func `The fault proxy with TLS counts a fault's position in decrypted bytes`() async throws {
        let text = String(repeating: "abcdefgh", count: 10_000)
        for count in [1, 7, 16_384, 20_000] {
            let rig = try ProxyRig([.truncate(after: .bytes(count))], tls: .throwaway) { connection in
                try connection.send(text)
                try connection.readToEnd()
            }
            #expect(try await TLSClient.connect(to: rig.proxy.port).output == String(text.prefix(count)))
            #expect(rig.proxy.bytesToClients == count)
        }
    }

    @Test func `The fault proxy with TLS sends nothing to a client that doesn't speak TLS`() async throws {
        let rig = try ProxyRig(tls: .throwaway) { connection in
            try connection.send("hello")
            try connection.readToEnd()
        }
        let client = try rig.client()
        client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        let (bytes, end) = try await client.reads()
        #expect(bytes.isEmpty)
        #expect(end == .finished)
        #expect(rig.proxy.bytesToClients == 0)
        let silent = try rig.client()
        silent.finish()
        #expect(try await silent.reads().end != .open)
    }

    @Test func `An injected reset at the start ends the connection before the TLS handshake`() async throws {
        let rig = try ProxyRig([.reset], tls: .throwaway) { try $0.readToEnd() }
        let client = try Command(program: "/usr/bin/openssl", ["s_client", "-connect", "127.0.0.1:\(rig.proxy.port)"])
        #expect(await client.output.toEnd().contains("no peer certificate available"))
        #expect(rig.proxy.connectionCount == 1)
    }

    // MARK: The SDK

    /// Runs the client in its own process, where the system trusts the authority.
    private func listen(_ channel: String, port: Int, trusting file: String?) throws -> Command {
        try Command(
            ["listen", channel, "--count", "1", "--tls", "--port", String(port)],
            environment: file.map { ["SSL_CERT_FILE": $0] } ?? [:])
    }

    @Test func `The serve command with --tls is trusted only with the authority's file that it prints`() async throws {
        let server = try Command("serve", "--tls", "--port", "0")
        let file = try await server.output.next(containing: "certificate authority in").split(separator: " ").last.map { "\($0)" }
        let address = try await server.output.next(containing: "listening on https://127.0.0.1:")
        let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
        let friend = try listen("news", port: port, trusting: file)
        try await friend.errors.next(containing: "subscribed to news")
        let stranger = try listen("news", port: port, trusting: nil)
        try await stranger.errors.next(containing: "the server's certificate is refused")
        withExtendedLifetime((friend, stranger)) {}
        server.signal(SIGTERM)
        #expect(await server.end() == .exit(0))
        #expect(!FileManager.default.fileExists(atPath: file ?? ""))
    }

    @Test func `A local server with TLS has https and wss URLs, and closes connections when stopped`() async throws {
        let server = try await LocalServer.start(tls: .throwaway)
        #expect(server.url.absoluteString == "https://127.0.0.1:\(server.port)")
        #expect(server.webSocketURL.absoluteString == "wss://127.0.0.1:\(server.port)")
        #expect(server.certificateAuthority != nil)
        await #expect(throws: LocalServer.CannotListen.self) { try await LocalServer.start(port: server.port, tls: .throwaway) }
        let client = try RawClient(port: server.port)
        await server.stop()
        #expect(try await client.reads().end != .open)
    }
}
#endif
