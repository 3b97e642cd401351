import Testing

@testable import PusherChannels

@Suite struct UpgradeRequestTests {
    private func lines(_ request: WebSocketRequest) throws -> [String] {
        let upgrade = try UpgradeRequest(request)
        let text = String(decoding: upgrade.bytes(upgrade.makeHandshake(nonce: (1, 2))), as: UTF8.self)
        #expect(text.hasSuffix("\r\n\r\n"))
        return text.split(separator: "\r\n").map(String.init)
    }

    // Proves P1.6, W4.5, W4.6.
    @Test func theWholeRequest() throws {
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
        (true, "ws.example", 80, "ws.example:80"),
        (false, "::1", 80, "[::1]"), (true, "fe80::1%eth0", 8443, "[fe80::1]:8443"), (false, "127.0.0.1", 81, "127.0.0.1:81"),
    ])
    func theHost(secure: Bool, host: String, port: Int, field: String) throws {
        #expect(
            try lines(WebSocketRequest(secure: secure, host: host, port: port, path: "/")).filter { $0.hasPrefix("Host:") }
                == ["Host: \(field)"])
    }

    // Proves W4.11.
    @Test func headersThatBelongToTheHandshakeAreLeftOut() throws {
        let names = [
            "Host", "connection", "UPGRADE", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
            "Content-Length", "Transfer-Encoding", "Proxy-Authorization", "Proxy-Connection",
        ]
        let headers = Dictionary(uniqueKeysWithValues: names.map { ($0, "evil") })
        let lines = try lines(WebSocketRequest(secure: false, host: "a", port: 80, path: "/", headers: headers))
        #expect(!lines.contains { $0.contains("evil") })
    }

    @Test func aUsersAgentOriginAndSubprotocols() throws {
        let headers = ["User-Agent": "mine", "Origin": "https://a.example", "Sec-WebSocket-Protocol": "x,  y"]
        let lines = try lines(WebSocketRequest(secure: false, host: "a", port: 80, path: "/", headers: headers))
        #expect(lines.filter { $0.hasPrefix("User-Agent") } == ["User-Agent: mine"])
        #expect(lines.contains("Origin: https://a.example"))
        #expect(lines.contains("Sec-WebSocket-Protocol: x, y"))
    }

    // Proves W3.1.
    @Test(arguments: [
        "", ".", "..", ".example.com", "a b", "a/b", "a\r\nb", "ä.example", "[::1]", "user@host", "a?b", "a#b", "a\u{7F}",
    ])
    func whatIsNoHost(host: String) {
        #expect(throws: TransportError.self) {
            try UpgradeRequest(WebSocketRequest(secure: true, host: host, port: 1, path: "/"))
        }
    }

    // Proves W3.1, W3.2.
    @Test(arguments: ["", "x", "/a b", "/a#b", "/#", "/ä", "/a\r\nb", "/a\u{7F}"])
    func whatIsNoPath(path: String) {
        #expect(throws: TransportError.self) {
            try UpgradeRequest(WebSocketRequest(secure: true, host: "a", port: 1, path: path))
        }
    }

    // Proves W4.10.
    @Test(arguments: ["a b", "a;b", "a, b/c", "ä", "a,\u{1}"])
    func whatIsNoSubprotocol(subprotocols: String) {
        let failure = #expect(throws: TransportError.self) {
            try UpgradeRequest(
                WebSocketRequest(
                    secure: true, host: "a", port: 1, path: "/", headers: ["Sec-WebSocket-Protocol": subprotocols]))
        }
        #expect(failure?.kind == .unsupported)
    }

    @Test func whatIsRefusedIsNamedWithoutSecrets() {
        let requests = [
            WebSocketRequest(
                secure: true, host: "a", port: 1, path: "/", headers: ["Sec-WebSocket-Protocol": "bearer, S3CRET=="]),
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
    func requestsHaveALimit(size: Int) {
        let agent = "User-Agentswift-pusher-channels/\(libraryVersion)".utf8.count + 4
        let path = "/" + String(repeating: "a", count: size - agent - 2)
        let request = WebSocketRequest(secure: true, host: "a", port: 1, path: path)
        #expect((try? UpgradeRequest(request)) == nil ? size == 8193 : size == 8192)
    }
}
