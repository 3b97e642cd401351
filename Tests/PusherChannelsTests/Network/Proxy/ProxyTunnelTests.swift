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
        let size = min(size, bytes.count)
        for start in stride(from: 0, to: bytes.count, by: size) {
            isThrough = try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { try tunnel.read($0) }
        }
        return isThrough
    }

    @Test func `A tunnel is requested with CONNECT, the endpoint, the library's user agent, and the proxy's credentials`() {
        let request = String(decoding: ProxyTunnel(through: proxy, to: "[::2]:443").request, as: UTF8.self)
        let agent = "User-Agent: swift-pusher-channels/\(libraryVersion)"
        #expect(request == "CONNECT [::2]:443 HTTP/1.1\r\nHost: [::2]:443\r\n\(agent)\r\n\r\n")
        let signed = String(decoding: ProxyTunnel(through: withCredentials, to: "ws.example:443").request, as: UTF8.self)
        #expect(signed.contains("\r\nProxy-Authorization: Basic YW5uOnMzY3JldDp4\r\n"))
    }

    @Test(arguments: [
        "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 OK\r\nVia: x\r\n\r\n",
        // The length is ignored here (RFC 9110, 9.3.6).
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 204 Fine\r\n\r\n",
    ])
    func `A 2xx reply opens the tunnel, however it is split and whatever body it announces`(text: String) throws {
        for size in [1, 2, 12, Int.max] { #expect(try read(text, through: proxy, by: size)) }
    }

    @Test(arguments: [401, 403, 407, 502, 503, 301])
    func `The error of a refused tunnel has the status, and says if the proxy wants credentials`(status: Int) {
        let failure = #expect(throws: TransportError.self) {
            try read("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno", through: proxy)
        }
        #expect(failure?.kind == .proxyRefused(status: status))
        #expect(failure?.message.contains("proxy.example:3128") == true)
        #expect(failure?.message.contains("wants credentials") == (status == 407))
    }

    @Test(arguments: [407, 401])
    func `The error of refused proxy credentials doesn't show them`(status: Int) {
        let failure = #expect(throws: TransportError.self) {
            try read("HTTP/1.1 \(status) No\r\n\r\n", through: withCredentials)
        }
        let words = "answered the request for a tunnel to ws.example:443 with HTTP \(status) (it doesn't take the credentials)"
        #expect(failure?.message == "Proxy [::1]:3128 \(words)")
    }

    @Test(arguments: ["SSH-2.0\r\n", "HTTP/1.1 200 OK\r\n\r\nhello", "HTTP/1.1 OK\r\n\r\n"])
    func `A reply that isn't an HTTP proxy's is reported as a protocol violation`(text: String) {
        let failure = #expect(throws: TransportError.self) { try read(text, through: proxy) }
        #expect(failure?.kind == .protocolViolation)
        #expect(failure?.message.hasPrefix("Proxy proxy.example:3128 doesn't answer like an HTTP proxy: ") == true)
    }
}

@Suite struct ProxyEnvironmentTests {
    private func proxy(_ variables: [String: String], host: String = "ws.example") throws -> String? {
        let environment = ProxyEnvironment(variables: variables)
        // A request's proxy is found the same way, so that what is exempt is so for it, too.
        let proxy = try environment.proxy(for: host, port: 443, secure: true)
        #expect(try environment.requestProxy(for: host, port: 443, secure: true) == proxy)
        return proxy.map { proxy in
            proxy.credentials.map { "\($0.user):\($0.password)@\(proxy)" } ?? "\(proxy)"
        }
    }

    /// Those of `wss` and `ws`, and of `https` and `http`.
    @Test(
        arguments: [
            (
                ["https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:1", "all_proxy": "http://c:1"], ["a:1", "a:1"],
                ["a:1", "c:1"]
            ),
            (["HTTPS_PROXY": "http://b:1", "http_proxy": "http://d:1"], ["b:1", "b:1"], ["b:1", "d:1"]),
            (["http_proxy": "http://d:1", "all_proxy": "http://c:1"], ["c:1", "d:1"], ["c:1", "d:1"]),
            (["ALL_PROXY": "http://e:1"], ["e:1", "e:1"], ["e:1", "e:1"]),
            (["https_proxy": "http://a:1"], ["a:1", "a:1"], ["a:1", nil]),
            (["http_proxy": "http://d:1"], [nil, "d:1"], [nil, "d:1"]),
            // In a CGI program, HTTP_PROXY is the value of a request's "Proxy" header.
            (["HTTP_PROXY": "http://f:1"], [nil, nil], [nil, nil]),
            (["https_proxy": "", "http_proxy": ""], [nil, nil], [nil, nil]), (["no_proxy": "a"], [nil, nil], [nil, nil]),
        ] as [([String: String], [String?], [String?])])
    func `The variable of a socket's or request's scheme comes before all_proxy, lower case first, unless it is empty`(
        variables: [String: String], sockets: [String?], requests: [String?]
    ) throws {
        let environment = ProxyEnvironment(variables: variables)
        for (index, secure) in [true, false].enumerated() {
            #expect(try environment.proxy(for: "ws.example", port: 443, secure: secure)?.description == sockets[index])
            #expect(try environment.requestProxy(for: "a.example", port: 80, secure: secure)?.description == requests[index])
        }
    }

    @Test(arguments: [Int.min, -1, 0, 65_536, Int.max])
    func `A proxy port from 1 to 65535 is accepted, and another one refused`(port: Int) {
        for fine in [1, 65_535] { #expect(HTTPProxy(url: "http://proxy.example:\(fine)")?.port == fine) }
        #expect(HTTPProxy(url: "http://proxy.example:\(port)") == nil)
        #expect(HTTPProxy(url: "http://[::1]:\(port)") == nil)
        #expect(throws: TransportError.self) { try proxy(["https_proxy": "http://proxy.example:\(port)"]) }
        let configuration = ProxyConfiguration.http(HTTPProxy(host: "proxy.example", port: port))
        let request = WebSocketRequest(secure: true, host: "ws.example", port: 443, path: "/", proxy: configuration)
        #expect(throws: TransportError.self) { try request.effectiveProxy }
    }

    @Test(arguments: [
        ("http://proxy.example:3128", "proxy.example:3128"), ("proxy.example:3128", "proxy.example:3128"),
        ("http://proxy.example", "proxy.example:80"), ("HTTP://proxy.example:1/", "proxy.example:1"),
        ("http://ann:p%40ss@proxy.example:1", "ann:p@ss@proxy.example:1"), ("ann@proxy.example:1", "ann:@proxy.example:1"),
        ("http://:p@proxy.example:1", ":p@proxy.example:1"),
        ("http://[::1]:3128", "[::1]:3128"), ("http://[::1]", "[::1]:80"), ("http://a:b:c@d:1", "a:b:c@d:1"),
        ("http://ann:p@ss@proxy.example:1", "ann:p@ss@proxy.example:1"),
    ])
    func `A proxy variable may have credentials or an IPv6 address, no scheme, no port`(value: String, expected: String) throws {
        #expect(try proxy(["https_proxy": value]) == expected)
    }

    @Test(arguments: [
        "socks5://proxy:1080", "https://proxy:443", "http://:80", "proxy:port", "http://proxy:70000", "http://[::1]:x",
        "http://[::1]8080", "http://abc/def==@proxy:3128", "http://ann:12/34@proxy:3128",
        "http://proxy.corp\r", "http://pro xy:3128", "http://[::1",
    ])
    func `A variable that names no HTTP proxy is refused without quoting its value`(value: String) {
        let failure = #expect(throws: TransportError.self) { try proxy(["https_proxy": value]) }
        #expect(failure == TransportError(.unsupported, "The variable https_proxy names no HTTP proxy (http://host:port)"))
    }

    @Test(arguments: ["localhost", "LOCALHOST.", "127.0.0.1", "127.8.9.1", "::1"])
    func `A loopback host is reached without the proxy`(host: String) throws {
        #expect(try proxy(["https_proxy": "http://a:1"], host: host) == nil)
    }

    @Test(arguments: [
        ("ws.example", "ws.example", true), ("ws.example", "WS.Example", true), ("example", "ws.example", true),
        (".example", "ws.example", true), ("*.example", "ws.example", true), (".ws.example", "ws.example", true),
        ("ample", "ws.example", false), ("s.example", "ws.example", false), ("*", "anything", true),
        ("a, ws.example", "ws.example", true), ("a ws.example", "ws.example", true), ("ws.example:443", "ws.example", true),
        ("ws.example:80", "ws.example", false), ("10.0.0.0/8", "10.1.2.3", true), ("0.0.0.0/0", "1.2.3.4", true),
        ("10.0.0.0/8", "11.1.2.3", false),
        ("10.1.2.3", "10.1.2.3", true), ("10.1.2.128/25", "10.1.2.127", false), ("10.1.2.128/25", "10.1.2.129", true),
        ("fd00::/8", "fd12::1", true), ("fd00::/8", "fe80::1", false), ("2001:db8::1", "2001:DB8::1", true),
        ("", "ws.example", false), ("ws.example.", "ws.example", true), ("10.0.0.0/33", "10.0.0.1", false),
        // Same leading bits, but the address is of the other family.
        ("10.0.0.0/8", "a00::1", false), ("a00::/8", "10.0.0.1", false),
    ])
    func `A host, domain, or network in no_proxy is reached without a proxy`(list: String, host: String, isDirect: Bool) throws {
        #expect(try (proxy(["https_proxy": "http://a:1", "no_proxy": list], host: host) == nil) == isDirect)
        #expect(try (proxy(["https_proxy": "http://a:1", "NO_PROXY": list], host: host) == nil) == isDirect)
    }
}
