import Foundation
import Testing

@testable import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The bytes of a `URLRequest` on the wire, and requests that can't be sent.
@Suite struct HTTPRequestTests {
    private func request(
        _ address: String, method: String = "GET", headers: [String: String] = [:], body: String? = nil
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: address)))
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    private func text(_ request: URLRequest, forwardedBy proxy: HTTPProxy? = nil) throws -> String {
        String(decoding: try HTTPRequest(request).bytes(forwardedBy: proxy), as: UTF8.self)
    }

    private func failure(_ request: URLRequest) throws -> HTTPFailure {
        try #require(throws: HTTPFailure.self) { try HTTPRequest(request) }
    }

    @Test func `A request without a body is sent with its path and query and the default headers`() throws {
        #expect(
            try text(request("http://example.com/a%20b?c=d%26e#f")) == """
                GET /a%20b?c=d%26e HTTP/1.1\r
                Host: example.com\r
                User-Agent: \(userAgent)\r
                Accept: */*\r
                Accept-Encoding: identity\r
                \r

                """)
    }

    @Test func `A request with a body is sent with its length, and its headers replace the defaults`() throws {
        let headers = ["Content-Type": "application/json", "Authorization": "Bearer x", "user-agent": "mine", "Accept": "a/b"]
        #expect(
            try text(request("https://example.com:8443", method: "POST", headers: headers, body: "{\"ü\":1}")) == """
                POST / HTTP/1.1\r
                Host: example.com:8443\r
                Accept: a/b\r
                Authorization: Bearer x\r
                Content-Type: application/json\r
                user-agent: mine\r
                Accept-Encoding: identity\r
                Content-Length: 8\r
                \r
                {"ü":1}
                """)
    }

    /// The example request builder of PusherSwift sets no content type, and URLSession adds this one.
    @Test func `A body without a content type is sent as a form`() throws {
        let sent = try text(request("http://a/", method: "POST", body: "a=b"))
        #expect(sent.contains("\r\nContent-Type: application/x-www-form-urlencoded\r\n"))
        #expect(try !text(request("http://a/", method: "POST")).contains("Content-Type"))
    }

    @Test(arguments: [("POST", true), ("PUT", true), ("PATCH", true), ("GET", false), ("HEAD", false), ("DELETE", false)])
    func `An empty body has a Content-Length with POST, PUT, and PATCH only`(method: String, expected: Bool) throws {
        #expect(try text(request("http://a/", method: method)).contains("\r\nContent-Length: 0\r\n") == expected)
    }

    @Test(arguments: [
        ("http://example.com/", "example.com"), ("http://example.com:80/", "example.com"),
        ("https://example.com:443", "example.com"),
        ("http://example.com:443/", "example.com:443"), ("http://[::1]:81/", "[::1]:81"),
        ("https://[2001:db8::1]/x", "[2001:db8::1]"), ("HTTP://127.0.0.1/", "127.0.0.1"),
    ])
    func `The Host header omits the default port and can be set by the application`(address: String, host: String) throws {
        #expect(try text(request(address)).contains("\r\nHost: \(host)\r\n"))
        let own = try text(request(address, headers: ["host": "other.example"]))
        #expect(own.contains("\r\nhost: other.example\r\n"))
        #expect(own.lowercased().components(separatedBy: "host:").count == 2)
    }

    @Test func `An IPv6 host is connected to without its brackets`() throws {
        let ready = try HTTPRequest(request("http://[::1]:81/"))
        #expect(ready.host == "::1" && ready.port == 81 && ready.endpoint == "[::1]:81")
        #expect(try HTTPRequest(request("https://a")).port == 443)
    }

    @Test func `Headers for the framing or the connection can't be set by the application`() throws {
        let headers = [
            "Content-Length": "99", "Transfer-Encoding": "chunked", "Connection": "close", "Accept-Encoding": "gzip",
            "Proxy-Authorization": "Basic x", "Upgrade": "h2c", "Expect": "100-continue", "TE": "trailers",
        ]
        let bare = try text(request("http://a/", method: "POST", body: "x"))
        #expect(try text(request("http://a/", method: "POST", headers: headers, body: "x")) == bare)
        #expect(bare.contains("\r\nContent-Length: 1\r\n"))
    }

    @Test func `Credentials in a URL are sent as an Authorization header and removed from the URL`() throws {
        let withCredentials = try request("http://ann:p%40ss@example.com/x")
        #expect(try text(withCredentials).contains("\r\nAuthorization: \(basicAuthorization("ann", "p@ss"))\r\n"))
        #expect(try HTTPRequest(withCredentials).url.absoluteString == "http://example.com/x")
        let own = try text(request("http://ann:pass@example.com/", headers: ["authorization": "Bearer y"]))
        #expect(!own.contains("Basic") && own.contains("authorization: Bearer y"))
    }

    @Test func `A forwarding proxy gets the whole URL and the credentials for the proxy`() throws {
        let proxy = HTTPProxy(host: "proxy.example", port: 3128, credentials: .init(user: "ann", password: "secret"))
        let sent = try text(request("http://ann:own@example.com:8080/a?b", method: "POST", body: "x"), forwardedBy: proxy)
        #expect(
            sent == """
                POST http://example.com:8080/a?b HTTP/1.1\r
                Host: example.com:8080\r
                User-Agent: \(userAgent)\r
                Accept: */*\r
                Content-Type: application/x-www-form-urlencoded\r
                Authorization: Basic YW5uOm93bg==\r
                Accept-Encoding: identity\r
                Content-Length: 1\r
                Proxy-Authorization: Basic YW5uOnNlY3JldA==\r
                \r
                x
                """)
    }

    @Test func `A forwarding proxy without credentials gets no Proxy-Authorization header`() throws {
        let sent = try text(request("http://[::1]"), forwardedBy: HTTPProxy(host: "p", port: 1))
        #expect(sent.hasPrefix("GET http://[::1]/ HTTP/1.1\r\nHost: [::1]\r\n"))
        #expect(!sent.contains("Proxy-"))
    }

    @Test(arguments: [
        ("a\r\nX-Evil: 1", "b"), ("a b", "c"), ("", "c"), ("a", "b\r\nX-Evil: 1"), ("a", "b\nc"), ("a", "b\u{0}"), ("a:", "b"),
    ])
    func `A header with an invalid name, or a line break or NUL in its value, is refused`(name: String, value: String) throws {
        // Foundation may omit such a header; if it passes the header on, the request is refused.
        let evil = try request("http://a/", headers: [name: value])
        guard evil.allHTTPHeaderFields?[name] == value else { return }
        let failure = try failure(evil).failure
        #expect(failure.kind == .unsupported)
        #expect(!failure.message.contains("\n") && !failure.message.contains("Evil: 1\r"))
    }

    @Test func `A request with an invalid method, or with CONNECT, is refused`() throws {
        for method in ["GET / HTTP/1.1\r\nX: ", "", "A B", "CONNECT"] {
            #expect(try failure(request("http://a/", method: method)).code == .unsupportedURL, "\(method)")
        }
    }

    @Test(arguments: [
        ("ftp://example.com/", URLError.Code.unsupportedURL), ("file:///etc/passwd", .unsupportedURL),
        ("ws://a/", .unsupportedURL), ("relative/path", .unsupportedURL), ("http:///path", .badURL), ("http://a:0/", .badURL),
        ("http://a:65536/", .badURL),
        ("http://a%0D%0Ab/", .badURL), ("http://a%20b/", .badURL),
    ])
    func `A URL that isn't HTTP, or has an invalid host or port, is refused`(address: String, code: URLError.Code) throws {
        guard URL(string: address) != nil else { return }
        #expect(try failure(request(address)).code == code)
    }

    @Test func `A request with a body stream is refused`() throws {
        var streamed = try request("http://a/", method: "POST")
        streamed.httpBodyStream = InputStream(data: Data("x".utf8))
        let failure = try failure(streamed)
        #expect(failure.code == .requestBodyStreamExhausted && failure.failure.message.contains("httpBody"))
    }

    @Test(
        arguments: [
            (0.25, Duration.milliseconds(250)), (15, .seconds(15)), (0, .seconds(60)), (-1, .seconds(60)), (.nan, .seconds(60)),
            (.infinity, .seconds(86_400)), (1e300, .seconds(86_400)),
        ] as [(TimeInterval, Duration)])
    func `A request's timeout is its interval up to a day, or 60 s if invalid`(interval: TimeInterval, timeout: Duration) throws {
        var timed = try request("http://a/")
        timed.timeoutInterval = interval
        #expect(try HTTPRequest(timed).timeout == timeout)
    }
}
