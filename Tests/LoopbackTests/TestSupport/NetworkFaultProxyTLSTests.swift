#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// TLS that the proxy terminates, as OpenSSL's own tool sees it.
@Suite(.watchdog) struct NetworkFaultProxyTLSTests {
    /// Connects with `openssl s_client`, and returns the lines that it prints about the connection.
    private func connect(to port: Int, trusting authority: CertificateAuthority?, name: String = "localhost") async throws
        -> [String]
    {
        var arguments = ["s_client", "-connect", "127.0.0.1:\(port)", "-servername", name, "-verify_hostname", name]
        if let authority { arguments += ["-CAfile", try authority.file().path, "-no-CApath", "-no-CAstore"] }
        // Its standard input is empty, so it connects, sends close_notify and ends.
        let command = try Command(program: "/usr/bin/openssl", arguments)
        return await command.output.toEnd()
    }

    private func verdict(_ lines: [String]) -> String? {
        lines.last { $0.contains("Verify return code") }.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func `The fault proxy's certificate is trusted only by clients that trust its authority`() async throws {
        let server = try RawServer { try $0.readToEnd() }
        let proxy = try NetworkFaultProxy.start(to: "127.0.0.1", port: server.port, tls: .throwaway)
        #expect(proxy.url.scheme == "https")
        #expect(proxy.webSocketURL.scheme == "wss")
        let authority = try #require(proxy.certificateAuthority)
        #expect(verdict(try await connect(to: proxy.port, trusting: authority)) == "Verify return code: 0 (ok)")
        let stranger = verdict(try await connect(to: proxy.port, trusting: nil))
        #expect(stranger?.hasPrefix("Verify return code:") == true)
        #expect(stranger != "Verify return code: 0 (ok)")
    }

    @Test func `A test authority issues no certificate for an invalid name or address`() throws {
        let authority = try CertificateAuthority()
        for name in ["", "a,DNS:b", "a\nb", "a b", "ä"] {
            #expect(throws: TLSFixtureError.badName(name)) { try authority.issue(names: [name]) }
            #expect(throws: TLSFixtureError.badName(name)) { try authority.issue(addresses: [name]) }
        }
        #expect(throws: TLSFixtureError.self) { try authority.issue(addresses: ["1.2.3"]) }
        #expect(throws: TLSFixtureError.self) { try authority.issue(names: [], addresses: []) }
    }

    @Test func `A test certificate's description and mirror don't reveal its private key`() throws {
        let certificate = try CertificateAuthority().issue()
        #expect(Mirror(reflecting: certificate).children.map(\.label) == ["certificatePEM"])
        #expect("\(certificate)" == "certificate of localhost")
    }

    @Test func `A test authority's file is deleted when the authority is released`() throws {
        var authority: CertificateAuthority? = try CertificateAuthority()
        let file = try #require(try authority?.file())
        #expect(try String(contentsOf: file, encoding: .utf8) == authority?.certificatePEM)
        authority = nil
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    /// Returns the first line that `openssl s_client -quiet` prints, which is what TLS carries.
    private func read(from proxy: NetworkFaultProxy) async throws -> String {
        let file = try #require(try proxy.certificateAuthority?.file().path)
        let client = try Command(
            program: "/usr/bin/openssl",
            ["s_client", "-quiet", "-connect", "127.0.0.1:\(proxy.port)", "-CAfile", file, "-verify_return_error"])
        let line = await client.output.next() ?? ""
        client.signal(SIGKILL)
        return line
    }

    @Test func `The fault proxy with TLS counts a fault's position in decrypted bytes`() async throws {
        let text = String(repeating: "abcdefgh", count: 10_000)
        let server = try RawServer { connection in
            try connection.send(text)
            try connection.readToEnd()
        }
        for count in [1, 7, 16_384, 20_000] {
            let proxy = try NetworkFaultProxy.start(
                to: "127.0.0.1", port: server.port, faults: [.truncate(after: .bytes(count))], tls: .throwaway)
            #expect(try await read(from: proxy) == String(text.prefix(count)))
            #expect(proxy.bytesToClients == count)
        }
    }

    @Test func `The fault proxy with TLS sends nothing to a client that doesn't speak TLS`() async throws {
        let server = try RawServer { connection in
            try connection.send("hello")
            try connection.readToEnd()
        }
        let proxy = try NetworkFaultProxy.start(to: "127.0.0.1", port: server.port, tls: .throwaway)
        let client = try RawClient(port: proxy.port)
        client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        let (bytes, end) = try await client.reads()
        #expect(bytes.isEmpty)
        #expect(end == .finished)
        #expect(proxy.bytesToClients == 0)
        let silent = try RawClient(port: proxy.port)
        silent.finish()
        #expect(try await silent.reads().end != .open)
    }

    @Test func `An injected reset at the start ends the connection before the TLS handshake`() async throws {
        let server = try RawServer { try $0.readToEnd() }
        let proxy = try NetworkFaultProxy.start(to: "127.0.0.1", port: server.port, faults: [.reset], tls: .throwaway)
        let client = try Command(program: "/usr/bin/openssl", ["s_client", "-connect", "127.0.0.1:\(proxy.port)"])
        #expect(await client.output.toEnd().contains("no peer certificate available"))
        #expect(proxy.connectionCount == 1)
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
        let file = try await server.output.next(containing: "certificate authority in").split(separator: " ").last.map(
            String.init)
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
        let end = try await client.reads().end
        #expect(end != .open)
    }
}
#endif
