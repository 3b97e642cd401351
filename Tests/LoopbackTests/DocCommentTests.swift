#if os(Linux)
import Foundation
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// The snippets of doc comments that need servers, word for word; `ci/checks/snippets` compares them.
@Suite(.watchdog) struct DocCommentTests {
    private static let lookUp = #"printf 'GET / HTTP/1.0\r\n\r\n'"#

    /// ``NetworkLoop``.
    @Test func `A client whose socket is made on one of several loops runs that loop only`() async throws {
        let server = try await LocalServer.start()
        var environment = PusherEnvironment()
        let loops = [NetworkLoop(), NetworkLoop()]
        environment.makeWebSocket = { NetworkWebSocket(loop: loops.randomElement() ?? .shared) }
        let pusher = Pusher(
            key: "local-key", options: PusherClientOptions(host: .host(server.host), port: server.port, useTLS: false),
            environment: environment)
        let recorder = RecordingDelegate(of: pusher)
        pusher.connect()
        try await recorder.next { $0 == .state(.connected) }
        #expect(loops.filter(\.isRunning).count == 1)
        pusher.disconnect()
        for loop in loops { await loop.shutdown() }
        await server.stop()
    }

    /// ``CertificateAuthority``.
    @Test func `A client that is given an authority's file trusts the authority's server`() async throws {
        let authority = try CertificateAuthority()
        let server = try await LocalServer.start(tls: .certificate(authority.issue()))
        let file = try authority.file()  // For clients that take a file: curl --cacert, SSL_CERT_FILE.
        let client = try await TLSClient.connect(
            to: server.port, saying: Self.lookUp, "-verify_return_error", "-no-CApath", "-no-CAstore", "-CAfile", file.path)
        #expect(client.remarks.contains("Verification: OK"))
        #expect(client.output.hasPrefix("HTTP/1.1 404"))
        await server.stop()
    }

    /// ``ServerTLS``.
    @Test func `A local server can require client certificates or speak only TLS 1.1`() async throws {
        let authority = try CertificateAuthority()
        let server = try await LocalServer.start(tls: ServerTLS(clientCertificates: .required(by: authority)))
        let old = try await LocalServer.start(tls: ServerTLS(versions: .tls11 ... .tls11))
        let ann = try authority.issueClient(name: "ann")
        let friend = try await TLSClient.connect(to: server.port, saying: Self.lookUp, showing: ann)
        #expect(friend.output.hasPrefix("HTTP/1.1 404"))
        let stranger = try await TLSClient.connect(to: server.port, saying: Self.lookUp)
        #expect(stranger.output.isEmpty)
        let veteran = try await TLSClient.connect(to: old.port, saying: Self.lookUp, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
        #expect(veteran.version == "TLSv1.1")
        await server.stop()
        await old.stop()
    }

    /// ``NetworkFaultProxy``.
    @Test func `A fault proxy resets the second connection after its third frame`() async throws {
        let server = try await LocalServer.start()
        let proxy = try NetworkFaultProxy.start(to: server.host, port: server.port)
        let client = Pusher(key: "local-key", options: .init(host: .host(proxy.host), port: proxy.port, useTLS: false))
        try proxy.inject(.reset(after: .frames(3)), onConnection: 2)
        let first = try RawClient(port: proxy.port)
        let recorder = RecordingDelegate(of: client)
        client.subscribe("news")
        client.connect()
        try await recorder.next { $0 == .subscribed(channel: "news") }
        #expect(proxy.connectionCount == 2)
        server.publish(channel: "news", event: "headline", data: "hello")
        try await recorder.next { $0 == .subscribed(channel: "news") }
        #expect(proxy.connectionCount == 3)
        client.disconnect()
        withExtendedLifetime(first) {}
        proxy.stop()
        await server.stop()
    }
}
#endif
