#if os(Linux)
import Foundation
import FoundationNetworking
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Redirects of the upgrade, and certificates for IPv6 addresses.
@Suite(.watchdog) struct RedirectionTests {
    private func open(_ request: WebSocketRequest) async throws -> SocketEvent? {
        let rig = SocketRig()
        rig.socket.open(request, attempt: first)
        return await rig.events.next()
    }

    private func request(port: Int, redirects: Int) -> WebSocketRequest {
        WebSocketRequest(
            secure: false, host: "127.0.0.1", port: port, path: "/app/key", headers: ["X-Secret": "s3cret"],
            maximumRedirects: redirects)
    }

    @Test func `Redirects of the upgrade are followed as often as allowed, without the user's headers`() async throws {
        let last = try RawServer.replying()
        let middle = try RawServer.replying(.text("HTTP/1.1 307 x\r\nLocation: ws://127.0.0.1:\(last.port)/b\r\n\r\n"))
        let server = try RawServer.replying(.text("HTTP/1.1 301 x\r\nLocation: ws://127.0.0.1:\(middle.port)/a?x=y\r\n\r\n"))
        #expect(try await open(request(port: server.port, redirects: 2)) == .opened(first))
        #expect(server.requests.all.first?.contains("X-Secret: s3cret") == true)
        #expect(middle.requests.all.first?.hasPrefix("GET /a?x=y HTTP/1.1\r\n") == true)
        #expect(middle.requests.all.first?.contains("X-Secret") == false)
        #expect(last.requests.all.first?.hasPrefix("GET /b HTTP/1.1\r\n") == true)

        for redirects in [0, 1] {
            let failure = try await open(request(port: server.port, redirects: redirects))?.failure
            #expect(failure?.kind == .upgradeRefused(status: redirects == 0 ? 301 : 307))
        }
        #expect(last.requests.all.count == 1)
    }

    /// `URLSession` follows a POST's redirect with a GET, which publishes nothing.
    // Proves P15.10.
    @Test(arguments: ["/login", "/apps/3/events/", "/apps/3/events?language=en"])
    func `A publish that URLSession redirected elsewhere fails as possibly carried out`(location: String) async throws {
        let server = try RawServer { connection in
            let isPublish = try connection.readRequest().hasPrefix("POST")
            let head = isPublish ? "302 x\r\nLocation: \(location)" : "200 x"
            try connection.send("HTTP/1.1 \(head)\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
            connection.finish()
            _ = connection.readRest()
        }
        let api = PusherHTTPAPI(
            appID: "3", key: "k", secret: "s", host: .host("127.0.0.1"), port: server.port, useTLS: false,
            environment: PusherEnvironment(httpSession: URLSession.shared))
        let place = "the HTTP API sent the request elsewhere, to 127.0.0.1, and the session followed"
        let message = "\(place); it may have been carried out"
        let error = await #expect(throws: PusherError.self) {
            try await api.trigger(channels: ["a"], eventName: "e", data: "1")
        }
        #expect(error == PusherError(.httpAPI(.noResponse), message: message, isRetryable: false))
        #expect(error?.isRetryable == false)
    }

    @Test func `A circle of redirects ends with the last redirect's status at the allowed number`() async throws {
        let server = try RawServer.replying(.text("HTTP/1.1 302 x\r\nLocation: /again\r\n\r\n"))
        #expect(try await open(request(port: server.port, redirects: 5))?.failure?.kind == .upgradeRefused(status: 302))
        #expect(server.requests.all.count == 6)
    }

    /// Tested through a proxy, because the tests' TLS servers listen on an IPv4 address.
    @Test(arguments: ["::1", "::2"])
    func `A certificate is accepted for an IPv6 address only if that address is in the certificate`(address: String) async throws
    {
        let authority = try CertificateAuthority()
        let server = try RawServer.replying(tls: .certificate(authority.issue(addresses: [address])))
        let proxy = try ConnectProxy(to: server.port)
        var request = WebSocketRequest(secure: true, host: "::1", port: 443, path: "/")
        request.tls.roots = .only(.text(authority.certificatePEM))
        request.proxy = .http(HTTPProxy(host: "127.0.0.1", port: proxy.port))
        let event = try await open(request)
        #expect(address == "::1" ? event == .opened(first) : event?.failure?.kind == .tlsFailed(.wrongHost))
        #expect(proxy.requests.map(\.target) == ["[::1]:443"])
    }
}
#endif
