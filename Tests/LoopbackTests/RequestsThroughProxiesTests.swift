#if os(Linux)
import Foundation
import FoundationNetworking
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// HTTP requests through proxies, and a client whose entire traffic goes through one.
@Suite struct RequestsThroughProxiesTests {
    private func session(
        _ port: Int, _ credentials: HTTPProxy.Credentials? = nil, trusting authority: CertificateAuthority? = nil
    ) -> HTTPRig {
        let roots = authority.map { TLSConfiguration.Roots.only(.text($0.certificatePEM)) } ?? .system
        let proxy = HTTPProxy(host: "127.0.0.1", port: port, credentials: credentials)
        return HTTPRig(NetworkHTTPSession(tls: TLSConfiguration(roots: roots), proxy: .http(proxy), loop: .patient))
    }

    @Test func httpsThroughATunnel() async throws {
        let authority = try CertificateAuthority()
        let server = try await LocalServer.start(tls: .certificate(authority.issue(names: ["api.example"])))
        server.router["/hello"] = JSONResponse { _ in ["Hello": "World"] }
        let proxy = try ConnectProxy(
            to: server.port, credentials: ConnectProxy.Credentials(user: "ann", password: "s3cret"))
        let request = try HTTPRig.request("https://api.example/hello")
        try await withWatchdog {
            let rig = session(
                proxy.port, HTTPProxy.Credentials(user: "ann", password: "s3cret"), trusting: authority)
            for _ in 0..<3 { #expect(try await rig.reply(request) == #"200 {"Hello":"World"}"#) }
            let failure = try await session(
                proxy.port, HTTPProxy.Credentials(user: "ann", password: "wr0ng"), trusting: authority
            ).failure(request)
            #expect(failure.failure.kind == .proxyRefused(status: 407))
            #expect(!failure.failure.message.contains("wr0ng"))
        }
        // The connection was reused: only two tunnels were requested, one of which was refused.
        #expect(proxy.requests.all.map(\.target) == ["api.example:443", "api.example:443"])
        await server.stop()
    }

    @Test func httpIsRelayed() async throws {
        let proxy = try RawServer.replying(.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))
        try await withWatchdog {
            let rig = session(proxy.port, HTTPProxy.Credentials(user: "ann", password: "s3cret"))
            let reply = try await rig.reply(HTTPRig.request("http://api.example:8080/a?b=c", method: "POST", body: "x"))
            #expect(reply == "200 hi")
        }
        let lines = proxy.requests.all.first?.components(separatedBy: "\r\n") ?? []
        #expect(lines.first == "POST http://api.example:8080/a?b=c HTTP/1.1")
        #expect(lines.contains("Host: api.example:8080"))
        #expect(lines.contains("Proxy-Authorization: Basic YW5uOnMzY3JldA=="))
    }

    @Test(arguments: [0, -1, 70_000], ["http", "https"])
    func aPortThatIsNoneGetsNoCredentials(port: Int, scheme: String) async throws {
        try await withWatchdog {
            let rig = session(port, HTTPProxy.Credentials(user: "ann", password: "s3cret"))
            let failure = try await rig.failure(HTTPRig.request("\(scheme)://api.example/"))
            #expect(failure.failure == TransportError(.unsupported, "\(port) is not a TCP port"))
        }
    }

    @Test func aForwardingProxyThatWantsCredentialsIsNotTheServer() async throws {
        let proxy = try RawServer.replying(
            .text("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno"))
        try await withWatchdog {
            let failure = try await session(proxy.port).failure(HTTPRig.request("http://api.example/"))
            #expect(failure.failure.kind == .proxyRefused(status: 407))
        }
    }

    @Test func aClientsEveryWordGoesThroughItsProxy() async throws {
        let authority = try CertificateAuthority()
        let server = try await LocalServer.start(tls: .certificate(authority.issue(names: ["ws.example", "auth.example"])))
        let proxy = try ConnectProxy(to: server.port)
        try await withWatchdog {
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
        }
        #expect(proxy.requests.all.map(\.target) == ["ws.example:443", "auth.example:443"])
        await server.stop()
    }
}
#endif
