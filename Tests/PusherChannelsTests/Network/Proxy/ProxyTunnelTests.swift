import Testing

@testable import PusherChannels

@Suite struct ProxyTunnelTests {
    private let proxy = HTTPProxy(host: "proxy.example", port: 3128)
    private let withCredentials = HTTPProxy(
        host: "::1", port: 3128, credentials: HTTPProxy.Credentials(user: "ann", password: "s3cret:x"))

    private func read(_ text: String, through proxy: HTTPProxy, by size: Int = .max) throws -> Bool {
        var tunnel = ProxyTunnel(through: proxy, to: "ws.example:443")
        var isThrough = false
        let bytes = Array(text.utf8)
        var position = 0
        while position < bytes.count {
            let end = size == .max ? bytes.count : min(position + size, bytes.count)
            isThrough = try bytes[position..<end].withUnsafeBytes { try tunnel.read($0) }
            position = end
        }
        return isThrough
    }

    @Test func theRequest() {
        let request = ProxyTunnel(through: proxy, to: "[::2]:443").request
        #expect(
            String(decoding: request, as: UTF8.self)
                == "CONNECT [::2]:443 HTTP/1.1\r\nHost: [::2]:443\r\nUser-Agent: swift-pusher-channels/\(libraryVersion)\r\n\r\n")
    }

    @Test func credentialsAreShown() {
        let request = ProxyTunnel(through: withCredentials, to: "ws.example:443").request
        #expect(String(decoding: request, as: UTF8.self).contains("\r\nProxy-Authorization: Basic YW5uOnMzY3JldDp4\r\n"))
    }

    @Test(arguments: [
        "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 OK\r\nVia: x\r\n\r\n",
        // The length is ignored here (RFC 9110, 9.3.6).
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 204 Fine\r\n\r\n",
    ])
    func aTunnelIsThereHoweverTheReplyComes(text: String) throws {
        for size in [1, 2, 12, Int.max] { #expect(try read(text, through: proxy, by: size)) }
    }

    @Test func anUnfinishedReplyIsNoTunnel() throws {
        #expect(try !read("HTTP/1.1 200 OK\r\n", through: proxy))
    }

    @Test(arguments: [401, 403, 407, 502, 503, 301])
    func aRefusalTellsItsStatus(status: Int) {
        let failure = #expect(throws: TransportError.self) {
            try read("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno", through: proxy)
        }
        #expect(failure?.kind == .proxyRefused(status: status))
        #expect(failure?.message.contains("proxy.example:3128") == true)
        #expect(failure?.message.contains("wants credentials") == (status == 407))
    }

    @Test(arguments: [407, 401])
    func refusedCredentialsAreNotTold(status: Int) {
        let failure = #expect(throws: TransportError.self) {
            try read("HTTP/1.1 \(status) No\r\n\r\n", through: withCredentials)
        }
        #expect(
            failure?.message
                == "Proxy [::1]:3128 answered the request for a tunnel to ws.example:443 with HTTP \(status) (it doesn't take the credentials)"
        )
    }

    @Test(arguments: ["SSH-2.0\r\n", "HTTP/1.1 200 OK\r\n\r\nhello", "HTTP/1.1 OK\r\n\r\n"])
    func whatIsNoProxy(text: String) {
        let failure = #expect(throws: TransportError.self) { try read(text, through: proxy) }
        #expect(failure?.kind == .protocolViolation)
        #expect(failure?.message.hasPrefix("Proxy proxy.example:3128 doesn't answer like an HTTP proxy: ") == true)
    }

    @Test func thePasswordIsNeverShown() {
        var dumped = ""
        dump(ProxyConfiguration.http(withCredentials), to: &dumped)
        for text in [
            "\(withCredentials)", "\(ProxyConfiguration.http(withCredentials))", String(reflecting: withCredentials), dumped,
        ] {
            #expect(!text.contains("s3cret"))
        }
    }
}
