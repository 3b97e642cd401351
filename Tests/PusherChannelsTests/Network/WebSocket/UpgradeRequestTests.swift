import Testing

@testable import PusherChannels

@Suite struct UpgradeRequestTests {
    private func lines(_ request: WebSocketRequest) throws -> [String] {
        let upgrade = try UpgradeRequest(request)
        let text = String(decoding: upgrade.bytes(upgrade.makeHandshake(nonce: (1, 2))), as: UTF8.self)
        #expect(text.hasSuffix("\r\n\r\n"))
        return text.split(separator: "\r\n").map(String.init)
    }

    // Proves P1.6, W4.5, W4.6, W4.11, W9.1.
    @Test func `The upgrade request has the path, the host, and the fields of a WebSocket handshake`() throws {
        let request = WebSocketRequest(secure: false, host: "ws.example", port: 8080, path: "/app/key?protocol=7")
        #expect(
            try lines(request) == [
                "GET /app/key?protocol=7 HTTP/1.1", "Host: ws.example:8080", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAEAAAAAAAAAAg==",
                "User-Agent: swift-pusher-channels/\(libraryVersion)",
            ])
    }

    @Test(arguments: [
        (false, "ws.example", 80, "ws.example"), (true, "ws.example", 443, "ws.example"),
        (true, "ws.example", 80, "ws.example:80"), (false, "::1", 80, "[::1]"), (true, "fe80::1%eth0", 8443, "[fe80::1]:8443"),
        (false, "127.0.0.1", 81, "127.0.0.1:81"),
    ])
    func `The Host field omits the default port and brackets IPv6`(secure: Bool, host: String, port: Int, field: String) throws {
        let lines = try lines(WebSocketRequest(secure: secure, host: host, port: port, path: "/"))
        #expect(lines.filter { $0.hasPrefix("Host:") } == ["Host: \(field)"])
    }

    // Proves W4.11.
    @Test func `The application's headers can't replace those of the handshake`() throws {
        let names = [
            "Host", "connection", "UPGRADE", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
            "Content-Length", "Transfer-Encoding", "Proxy-Authorization", "Proxy-Connection",
        ]
        let headers = Dictionary(uniqueKeysWithValues: names.map { ($0, "evil") })
        let lines = try lines(WebSocketRequest(secure: false, host: "a", port: 80, path: "/", headers: headers))
        #expect(!lines.contains { $0.contains("evil") })
    }

    // Proves W4.11.
    @Test func `The application's user agent, origin, and subprotocols are sent with the upgrade`() throws {
        let headers = ["User-Agent": "mine", "Origin": "https://a.example", "Sec-WebSocket-Protocol": "x,  y"]
        let lines = try lines(WebSocketRequest(secure: false, host: "a", port: 80, path: "/", headers: headers))
        #expect(lines.filter { $0.hasPrefix("User-Agent") } == ["User-Agent: mine"])
        #expect(lines.contains("Origin: https://a.example"))
        #expect(lines.contains("Sec-WebSocket-Protocol: x, y"))
    }

    private static let invalidHosts = [
        "", ".", "..", ".example.com", "a b", "a/b", "a\r\nb", "ä.example", "[::1]", "user@host", "a?b", "a#b", "a\u{7F}",
    ]
    private static let invalidPaths = ["", "x", "/a b", "/a#b", "/#", "/ä", "/a\r\nb", "/a\u{7F}"]

    // Proves W3.1, W3.2.
    @Test(arguments: invalidHosts.map { ($0, "/") } + invalidPaths.map { ("a", $0) })
    func `An upgrade to an invalid host, or a path that isn't absolute and encoded, is refused`(host: String, path: String) {
        #expect(throws: TransportError.self) {
            try UpgradeRequest(WebSocketRequest(secure: true, host: host, port: 1, path: path))
        }
    }

    // Proves W4.10.
    @Test(arguments: ["a b", "a;b", "a, b/c", "ä", "a,\u{1}"])
    func `A subprotocol that isn't a token is refused`(subprotocols: String) {
        let headers = ["Sec-WebSocket-Protocol": subprotocols]
        let request = WebSocketRequest(secure: true, host: "a", port: 1, path: "/", headers: headers)
        let failure = #expect(throws: TransportError.self) { try UpgradeRequest(request) }
        #expect(failure?.kind == .unsupported)
    }

    @Test func `The error of a refused upgrade names the mistake without secrets`() {
        let requests = [
            WebSocketRequest(secure: true, host: "a", port: 1, path: "/", headers: ["Sec-WebSocket-Protocol": "b, S3CRET=="]),
            WebSocketRequest(secure: true, host: "a", port: 1, path: "/a b?token=S3CRET"),
            WebSocketRequest(secure: true, host: "ann:S3CRET@a", port: 1, path: "/"),
            WebSocketRequest(secure: true, host: "a/?token=S3CRET", port: 1, path: "/"),
        ]
        let messages = requests.compactMap { request in
            #expect(throws: TransportError.self) { try UpgradeRequest(request) }?.message
        }
        #expect(
            messages == [
                #"The header "Sec-WebSocket-Protocol" isn't a list of subprotocols"#,
                #"The path must begin with / and be percent-encoded: "/a b?…""#,
                #""a" isn't a valid host (a name or an address alone, without scheme, port and path)"#,
                #""a/?…" isn't a valid host (a name or an address alone, without scheme, port and path)"#,
            ])
    }

    @Test(arguments: [8192, 8193])
    func `An upgrade request of more than 8 KiB is refused`(size: Int) {
        let agent = "User-Agentswift-pusher-channels/\(libraryVersion)".utf8.count + 4
        let path = "/" + String(repeating: "a", count: size - agent - 2)
        let request = WebSocketRequest(secure: true, host: "a", port: 1, path: path)
        #expect((try? UpgradeRequest(request)) == nil ? size == 8193 : size == 8192)
    }
}

/// The upgrade: RFC 6455, 1.3 and 4.1.
@Suite struct UpgradeHandshakeTests {
    /// "the sample nonce", the RFC's example.
    private static let nonce: (UInt64, UInt64) = (0x7468_6520_7361_6D70, 0x6C65_206E_6F6E_6365)
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private func result(
        status: Int = 101, _ changes: [(String, String?)] = [], adding added: [(String, String)] = [],
        asking subprotocols: String? = nil
    ) -> Result<String?, UpgradeRefusal> {
        var fields = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", Self.accept)]
        for (name, value) in changes {
            fields.removeAll { $0.0 == name }
            if let value { fields.append((name, value)) }
        }
        let reply = ResponseHead(status: status, fields: (fields + added).map { (name: $0.0, value: $0.1) })
        let handshake = UpgradeHandshake(nonce: Self.nonce, subprotocols: subprotocols)
        do throws(UpgradeRefusal) {
            return .success(try handshake.check(reply))
        } catch {
            return .failure(error)
        }
    }

    // Proves W4.7, W4.16.
    @Test func `The handshake's key and accept value are those of the RFC's example`() {
        let handshake = UpgradeHandshake(nonce: Self.nonce)
        #expect(handshake.key == "dGhlIHNhbXBsZSBub25jZQ==")
        #expect(handshake.accept == Self.accept)
    }

    // Proves W4.9.
    @Test func `Each subprotocol is asked for once, and empty ones are left out`() {
        let fields = UpgradeHandshake(nonce: Self.nonce, subprotocols: "b, a,,b ,A,a").fields
        #expect(fields.last?.value == "b, a, A")
        #expect(UpgradeHandshake(nonce: Self.nonce, subprotocols: " , ").fields.count == 4)
    }

    // Proves W4.14, W4.15, W4.16.
    @Test(arguments: [
        [], [("Upgrade", "WebSocket")], [("Upgrade", "\twebsocket \r\n")],
        [("Connection", "upgrade")], [("Connection", "keep-alive, UPGRADE")], [("Connection", " ,Upgrade,")],
        [("Sec-WebSocket-Accept", " \(accept)\t")],
        [("Sec-WebSocket-Extensions", "")], [("Sec-WebSocket-Extensions", " , ")], [("Sec-WebSocket-Protocol", "")],
        [("Content-Length", "0")],
    ])
    func `A reply is accepted whatever the letter case, lists, and spaces in its fields' values`(changes: [(String, String)]) {
        #expect(result(changes.map { ($0.0, Optional($0.1)) }) == .success(nil))
    }

    // Proves W4.14, W4.16.
    @Test func `A reply is refused if one of its Upgrade fields names something else, or if it repeats the accept field`() {
        #expect(result(adding: [("upgrade", "WEBSOCKET")]) == .success(nil))
        for name in ["h2c", ""] { #expect(result(adding: [("upgrade", name)]) == .failure(.noUpgrade)) }
        for key in [Self.accept, ""] { #expect(result(adding: [("sec-websocket-accept", key)]) == .failure(.wrongAccept)) }
    }

    /// HTTP doesn't use Unicode's lowercase mapping or equivalences (RFC 9110, 5.1).
    // Proves W4.19.
    @Test func `A reply's field names are compared as ASCII, without Unicode's equivalents`() {
        let name = "Sec-WebSoc\u{212A}et-Accept"
        #expect(result([("Sec-WebSocket-Accept", nil)], adding: [(name, Self.accept)]) == .failure(.wrongAccept))
        #expect(result(adding: [(name, "of no account")]) == .success(nil))
    }

    // Proves W4.13.
    @Test(arguments: [0, 100, 200, 204, 301, 400, 401, 403, 426, 503])
    func `A reply with a status other than 101 is refused and reported with that status`(status: Int) {
        #expect(result(status: status) == .failure(.status(status)))
        let failure = UpgradeRefusal.status(status).failure(endpoint: "host:80")
        #expect(failure.kind == .upgradeRefused(status: status))
        #expect(failure.message.contains("HTTP \(status)"))
        #expect(failure.message.contains("redirect") == (status == 301))
    }

    // Proves W4.14, W4.15, W4.16, W4.17, W4.18, W4.19, W4.20.
    @Test(
        arguments: [
            ("Upgrade", nil, .noUpgrade), ("Upgrade", "", .noUpgrade), ("Upgrade", "h2c", .noUpgrade),
            ("Upgrade", "websockets", .noUpgrade), ("Upgrade", "web socket", .noUpgrade),
            ("Upgrade", "h2c, websocket", .noUpgrade), ("Upgrade", "websocket,", .noUpgrade),
            ("Upgrade", "websoc\u{212A}et", .noUpgrade), ("Connection", nil, .noConnectionUpgrade),
            ("Connection", "close", .noConnectionUpgrade),
            ("Connection", "no-upgrade", .noConnectionUpgrade),
            ("Sec-WebSocket-Accept", nil, .wrongAccept), ("Sec-WebSocket-Accept", "", .wrongAccept),
            ("Sec-WebSocket-Accept", accept.lowercased(), .wrongAccept), ("Sec-WebSocket-Accept", accept + "=", .wrongAccept),
            ("Sec-WebSocket-Accept", "dGhlIHNhbXBsZSBub25jZQ==", .wrongAccept),
            ("Sec-WebSocket-Accept", "\(accept), \(accept)", .wrongAccept),
            ("Sec-WebSocket-Accept", "\(accept),", .wrongAccept), ("Sec-WebSocket-Accept", ",\(accept)", .wrongAccept),
            ("Sec-WebSocket-Accept", accept.replacing("K", with: "\u{212A}"), .wrongAccept),
            ("Content-Length", "1", .body("Content-Length")), ("Content-Length", "0, 7", .body("Content-Length")),
            ("content-length", "", .body("Content-Length")), ("Transfer-Encoding", "chunked", .body("Transfer-Encoding")),
            ("Sec-WebSocket-Extensions", "permessage-deflate", .unwantedExtension("permessage-deflate")),
            ("Sec-WebSocket-Protocol", "chat", .unwantedSubprotocol("chat")),
        ] as [(String, String?, UpgradeRefusal)])
    func `A reply with a wrong or unwanted field is a protocol violation`(name: String, value: String?, refusal: UpgradeRefusal) {
        #expect(result([(name, value)]) == .failure(refusal))
        #expect(refusal.failure(endpoint: "host:80").kind == .protocolViolation)
        #expect(refusal.failure(endpoint: "host:80").message.hasPrefix("host:80 doesn't answer like a WebSocket server: "))
    }

    // Proves W4.18, W4.19.
    @Test func `A reply's subprotocol must be exactly one of those asked for`() {
        #expect(result(adding: [("Sec-WebSocket-Protocol", " b ")], asking: "a, b") == .success("b"))
        #expect(result(asking: "a, b") == .success(nil))
        let twice = [("Sec-WebSocket-Protocol", "a"), ("sec-websocket-protocol", "a")]
        #expect(result(adding: twice, asking: "a, b") == .failure(.unwantedSubprotocol("a, a")))
        for (asked, unwanted) in [("a, b", "c"), ("a, b", "a, b"), ("a", "A"), ("K", "\u{212A}")] {
            let found = result(adding: [("Sec-WebSocket-Protocol", unwanted)], asking: asked)
            #expect(found == .failure(.unwantedSubprotocol(unwanted)))
        }
    }

    @Test func `A refused upgrade's error quotes at most 100 characters of the server's text`() {
        let failure = UpgradeRefusal.unwantedSubprotocol(String(repeating: "x", count: 101)).failure(endpoint: "a:1")
        #expect(failure.message.contains("\"\(String(repeating: "x", count: 100))\""))
    }
}

@Suite struct RedirectTests {
    private let request = WebSocketRequest(
        secure: true, host: "ws.example", port: 443, path: "/app/key?protocol=7", headers: ["Authorization": "secret"],
        maximumRedirects: 3)

    private func redirect(_ location: String?, status: Int = 307, of request: WebSocketRequest? = nil) -> WebSocketRequest? {
        let fields = location.map { [(name: "location", value: $0)] } ?? []
        return ResponseHead(status: status, fields: fields).redirect(of: request ?? self.request)
    }

    @Test(arguments: [
        ("wss://other.example/app/key?a=b", "wss://other.example:443/app/key?a=b"),
        ("https://other.example:8443/x%20y", "wss://other.example:8443/x%20y"), ("/elsewhere", "wss://ws.example:443/elsewhere"),
        ("?a=b", "wss://ws.example:443/app/key?a=b"), ("//other.example", "wss://other.example:443/"),
        ("https://[::1]:1/", "wss://[::1]:1/"),
    ])
    func `A redirect leads to a WebSocket URL resolved against that of the request`(location: String, url: String) {
        #expect(redirect(location)?.url == url)
    }

    @Test(
        arguments: [
            (301, 2), (302, 2), (303, 2), (307, 2), (308, 2), (101, nil), (200, nil), (300, nil), (304, nil), (305, nil),
            (401, nil), (503, nil),
        ] as [(Int, Int?)])
    func `A redirect has the status 301, 302, 303, 307, or 308, and leaves one fewer to follow`(status: Int, left: Int?) {
        #expect(redirect("/x", status: status)?.maximumRedirects == left)
    }

    @Test(arguments: [
        nil, "ws://ws.example/", "http://ws.example/", "ftp://ws.example/", "mailto:a@b", "wss://", "https://",
        "wss://ws.example:0/", "/" + String(repeating: "x", count: 8192),
    ])
    func `A redirect without a usable location, to plain text, or to another scheme isn't followed`(location: String?) {
        #expect(redirect(location) == nil)
    }

    @Test func `A plain-text request may be redirected to TLS or to plain text`() {
        let plain = WebSocketRequest(secure: false, host: "ws.example", port: 80, path: "/")
        #expect(redirect("https://ws.example/", of: plain)?.url == "wss://ws.example:443/")
        #expect(redirect("http://ws.example:81/", of: plain)?.url == "ws://ws.example:81/")
        #expect(redirect("http://other.example/", of: plain)?.url == "ws://other.example:80/")
    }

    @Test func `A redirect to another host or port drops the request's headers and TLS configuration`() {
        var request = request
        request.tls.verification = .insecureAcceptAnyCertificate
        request.tls.identity = TLSConfiguration.Identity(certificateChain: .text("chain"), privateKey: .text("key"))
        #expect(redirect("/x", of: request)?.tls == request.tls)
        #expect(redirect("/x", of: request)?.headers == ["Authorization": "secret"])
        for other in ["wss://other.example/", "wss://ws.example:444/", "//other.example/"] {
            #expect(redirect(other, of: request)?.tls == TLSConfiguration())
            #expect(redirect(other, of: request)?.headers == [:])
        }
    }
}
