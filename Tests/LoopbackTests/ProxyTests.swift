#if os(Linux)
import Foundation
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Connections through HTTP proxies. For failures, see the page "When connecting fails".
@Suite struct ProxyTests {
    private func echo(tls: ServerTLS? = nil, on address: Loopback = .ipv4) throws -> RawServer {
        try RawServer(on: address, tls: tls) { connection in
            try connection.upgrade()
            while true { try connection.send(.text(connection.readFrame().text)) }
        }
    }

    /// Sends a message to a server through a proxy, and returns whether it came back.
    private func speaks(
        through proxy: HTTPProxy, port: Int = 443, tls: TLSConfiguration? = nil
    ) async throws -> Bool {
        try await withWatchdog {
            let rig = SocketRig()
            let request = WebSocketRequest(
                secure: tls != nil, host: "ws.example", port: port, path: "/", tls: tls ?? TLSConfiguration(),
                proxy: .http(proxy))
            rig.socket.open(request, attempt: first)
            guard await rig.events.next() == .opened(first) else { return false }
            rig.socket.send("hello")
            return await rig.events.next() == .text("hello")
        }
    }

    // Proves W4.3.
    @Test(arguments: [Loopback.ipv4, .ipv6], [false, true])
    func wsAndWss(address: Loopback, secure: Bool) async throws {
        let authority = try CertificateAuthority()
        // Issued for the server's name, not the proxy's address.
        let certificate = try authority.issue(names: ["ws.example"], addresses: [])
        let server = try echo(tls: secure ? .certificate(certificate) : nil)
        let proxy = try ConnectProxy(on: address, to: server.port)
        let tls = secure ? TLSConfiguration(roots: .only(.text(authority.certificatePEM))) : nil
        #expect(try await speaks(through: HTTPProxy(host: address.host, port: proxy.port), tls: tls))
        // The proxy gets the name, because it may be the only one that can resolve it.
        #expect(proxy.requests.all.map(\.target) == ["ws.example:443"])
        #expect(proxy.requests.all.first?.values("Host") == ["ws.example:443"])
        #expect(proxy.requests.all.first?.values("Proxy-Authorization") == [])
        #expect(server.requests.all.first?.contains("\r\nHost: ws.example\(secure ? "" : ":443")\r\n") == true)
        #expect(server.requests.all.first?.contains("Proxy-Authorization") == false)
    }

    @Test func credentials() async throws {
        let server = try echo()
        let proxy = try ConnectProxy(
            to: server.port, credentials: ConnectProxy.Credentials(user: "ann", password: "p:ä ss"))
        let credentials = HTTPProxy.Credentials(user: "ann", password: "p:ä ss")
        #expect(try await speaks(through: HTTPProxy(host: "127.0.0.1", port: proxy.port, credentials: credentials)))
        #expect(server.requests.all.first?.contains("Proxy-Authorization") == false)
    }

    @Test(arguments: [
        ConnectProxy.Reply.established(cut: .every(1)), .established(cut: .at(10)), .established(cut: .at(40)),
        .establishedHTTP10, .establishedWithBodyLength,
    ])
    func howeverTheProxyReplies(reply: ConnectProxy.Reply) async throws {
        let authority = try CertificateAuthority()
        let server = try echo(tls: .certificate(authority.issue(names: ["ws.example"])))
        let proxy = try ConnectProxy(to: server.port, reply: reply)
        let tls = TLSConfiguration(roots: .only(.text(authority.certificatePEM)))
        #expect(try await speaks(through: HTTPProxy(host: "127.0.0.1", port: proxy.port), tls: tls))
    }

    @Test func aProxyByName() async throws {
        let server = try echo()
        let proxy = try ConnectProxy(to: server.port)
        #expect(try await speaks(through: HTTPProxy(host: "localhost", port: proxy.port)))
    }

    @Test(arguments: [0, -1, 70_000])
    func aPortThatIsNone(port: Int) async throws {
        let rig = SocketRig()
        var request = WebSocketRequest(secure: false, host: "ws.example", port: 80, path: "/")
        request.proxy = .http(HTTPProxy(host: "127.0.0.1", port: port))
        rig.socket.open(request, attempt: first)
        let failure = try await withWatchdog { await rig.events.untilClosed().last?.failure }
        #expect(failure == TransportError(.unsupported, "\(port) is not a TCP port"))
    }

    @Test func aTunnelIsClosedWithItsConnection() async throws {
        let server = try echo()
        let proxy = try ConnectProxy(to: server.port)
        try await withWatchdog {
            let rig = SocketRig()
            rig.socket.open(
                WebSocketRequest(
                    secure: false, host: "ws.example", port: 80, path: "/",
                    proxy: .http(HTTPProxy(host: "127.0.0.1", port: proxy.port))), attempt: first)
            #expect(await rig.events.next() == .opened(first))
            #expect(proxy.openTunnelCount == 1)
            rig.socket.close(code: 1000, reason: "")
            _ = await rig.events.untilClosed()
        }
        proxy.stop()
        #expect(proxy.openTunnelCount == 0)
    }
}
#endif
