#if os(Linux)
import Foundation
import FoundationNetworking
import Processes
@testable import PusherChannels
import Testing
import TestSupport

/// Connections through HTTP proxies. For failures, see the page "When connecting fails".
@Suite(.watchdog) struct ProxyTests {
    private func request(
        through proxy: ConnectProxy, host: String = "127.0.0.1", credentials: HTTPProxy.Credentials? = nil,
        tls: TLSConfiguration? = nil
    ) -> WebSocketRequest {
        WebSocketRequest(
            secure: tls != nil, host: "ws.example", port: 443, path: "/", tls: tls ?? TLSConfiguration(),
            proxy: .http(HTTPProxy(host: host, port: proxy.port, credentials: credentials)))
    }

    /// Sends a message to a server that sends it back.
    private func expectEcho(of request: WebSocketRequest, sourceLocation: SourceLocation = #_sourceLocation) async {
        let rig = SocketRig()
        rig.socket.open(request, attempt: first)
        #expect(await rig.events.next() == .opened(first), sourceLocation: sourceLocation)
        rig.socket.send("hello")
        #expect(await rig.events.next() == .text("hello"), sourceLocation: sourceLocation)
    }

    // Proves W4.3.
    @Test(arguments: [Loopback.ipv4, .ipv6], [false, true])
    func `Connections with and without TLS go through a proxy, which resolves the server's name`(address: Loopback, secure: Bool)
        async throws
    {
        let authority = try CertificateAuthority()
        // Issued for the server's name, not the proxy's address.
        let certificate = try authority.issue(names: ["ws.example"], addresses: [])
        let server = try RawServer.echo(tls: secure ? .certificate(certificate) : nil)
        let proxy = try ConnectProxy(on: address, to: server.port)
        let tls = secure ? TLSConfiguration(roots: .only(.text(authority.certificatePEM))) : nil
        await expectEcho(of: request(through: proxy, host: address.host, tls: tls))
        // The proxy gets the name, because it may be the only one that can resolve it.
        #expect(proxy.requests.map(\.target) == ["ws.example:443"])
        #expect(proxy.requests.first?.values("Host") == ["ws.example:443"])
        #expect(proxy.requests.first?.values("Proxy-Authorization") == [])
        #expect(server.requests.all.first?.contains("\r\nHost: ws.example\(secure ? "" : ":443")\r\n") == true)
        #expect(server.requests.all.first?.contains("Proxy-Authorization") == false)
    }

    @Test func `Proxy credentials, also beyond ASCII, reach the proxy and not the server`() async throws {
        let server = try RawServer.echo()
        let proxy = try ConnectProxy(to: server.port, credentials: ConnectProxy.Credentials(user: "ann", password: "p:ä ss"))
        let credentials = HTTPProxy.Credentials(user: "ann", password: "p:ä ss")
        await expectEcho(of: request(through: proxy, credentials: credentials))
        #expect(server.requests.all.first?.contains("Proxy-Authorization") == false)
    }

    @Test func `A proxy's tunnel is closed with the connection that goes through the tunnel`() async throws {
        let server = try RawServer.echo()
        let proxy = try ConnectProxy(to: server.port)
        let rig = SocketRig()
        rig.socket.open(request(through: proxy), attempt: first)
        #expect(await rig.events.next() == .opened(first))
        #expect(proxy.openTunnelCount == 1)
        rig.socket.close(code: 1000, reason: "")
        _ = await rig.events.untilClosed()
        await pollTheSystem { proxy.openTunnelCount == 0 }
    }
}

/// HTTP requests through proxies, and a client whose entire traffic goes through one.
@Suite(.watchdog) struct RequestsThroughProxiesTests {
    private func session(
        _ port: Int, _ credentials: HTTPProxy.Credentials? = nil, trusting authority: CertificateAuthority? = nil
    ) -> HTTPRig {
        let roots = authority.map { TLSConfiguration.Roots.only(.text($0.certificatePEM)) } ?? .system
        let proxy = HTTPProxy(host: "127.0.0.1", port: port, credentials: credentials)
        return HTTPRig(NetworkHTTPSession(tls: TLSConfiguration(roots: roots), proxy: .http(proxy), loop: .patient))
    }

    @Test func `HTTPS requests share one tunnel through a proxy, and wrong credentials fail a request`() async throws {
        let authority = try CertificateAuthority()
        let server = try await LocalServer.start(tls: .certificate(authority.issue(names: ["api.example"])))
        server.router["/hello"] = JSONResponse { _ in ["Hello": "World"] }
        let proxy = try ConnectProxy(to: server.port, credentials: ConnectProxy.Credentials(user: "ann", password: "s3cret"))
        let request = try HTTPRig.request("https://api.example/hello")
        let rig = session(proxy.port, HTTPProxy.Credentials(user: "ann", password: "s3cret"), trusting: authority)
        for _ in 0..<3 { #expect(try await rig.reply(request) == #"200 {"Hello":"World"}"#) }
        let failure = try await session(
            proxy.port, HTTPProxy.Credentials(user: "ann", password: "wr0ng"), trusting: authority
        ).failure(request)
        #expect(failure.failure.kind == .proxyRefused(status: 407))
        #expect(!failure.failure.message.contains("wr0ng"))
        // The connection was reused: only two tunnels were requested, one of which was refused.
        #expect(proxy.requests.map(\.target) == ["api.example:443", "api.example:443"])
        await server.stop()
    }

    @Test(arguments: [0, 70_000], ["http", "https"])
    func `A request through a proxy with an invalid port fails as unsupported`(port: Int, scheme: String) async throws {
        let rig = session(port, HTTPProxy.Credentials(user: "ann", password: "s3cret"))
        let failure = try await rig.failure(HTTPRig.request("\(scheme)://api.example/"))
        #expect(failure.failure == TransportError(.unsupported, "\(port) is not a TCP port"))
    }

    @Test func `A 407 response of a forwarding proxy is the proxy's refusal, not the server's response`() async throws {
        let proxy = try RawServer.replying(
            .text("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno"))
        let failure = try await session(proxy.port).failure(HTTPRig.request("http://api.example/"))
        #expect(failure.failure.kind == .proxyRefused(status: 407))
    }

    @Test func `A client's connection and its authorization requests both go through the client's proxy`() async throws {
        let authority = try CertificateAuthority()
        let server = try await LocalServer.start(tls: .certificate(authority.issue(names: ["ws.example", "auth.example"])))
        let proxy = try ConnectProxy(to: server.port)
        let pusher = Pusher(
            key: "local-key",
            options: PusherClientOptions(
                authMethod: .endpoint(authEndpoint: "https://auth.example/pusher/auth"), host: .host("ws.example"),
                tls: TLSConfiguration(roots: .only(.text(authority.certificatePEM))),
                proxy: .http(HTTPProxy(host: "127.0.0.1", port: proxy.port)), timeouts: .patient))
        let events = pusher.subscribe("private-orders").events(named: "pusher:subscription_succeeded")
        pusher.connect()
        var iterator = events.makeAsyncIterator()
        let event = try await iterator.next()
        #expect(event != nil)
        pusher.disconnect()
        #expect(proxy.requests.map(\.target) == ["ws.example:443", "auth.example:443"])
        await server.stop()
    }
}
#endif
