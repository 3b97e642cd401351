import Foundation
import TestSupport
import Testing

/// Routes that a test defines, beyond plain paths.
struct LocalServerRouteTests {
    @Test func `A route matches by path pattern or by regular expression`() async throws {
        try await withTestHarness(allowing: [.unmatchedRequest, .unusedStub]) { harness in
            let server = try await harness.startServer()
            server.router.on("/files/{path...}") { StubResponse(text: $0.pathParameters["path"] ?? "") }
            server.router.on("GET" && .path(matching: "/users/(?<id>[0-9]+)/(likes|posts)")) { request in
                let parameters = request.pathParameters
                return StubResponse(text: "\(parameters["id"] ?? "") \(parameters["1"] ?? "") \(parameters["2"] ?? "")")
            }
            server.router.on(.path(matching: "(")) { _ in .ok }
            #expect(try await server.ask("/files/a/b%20c") == "200 a/b c")
            #expect(try await server.ask("/users/7/likes?x=1") == "200 7 7 likes")
            for path in ["/files/", "/files", "/users/x/likes", "/users/7/likes/8"] {
                #expect(try await server.ask(path).hasPrefix("404 "), "\(path)")
            }
            server.router["/files/exact"] = DataResponse { _ in Data("exact".utf8) }
            server.router.on(.any) { StubResponse(text: "any \($0.path)") }
            #expect(try await server.ask("/files/exact") == "200 exact")
            #expect(try await server.ask("/files/a") == "200 any /files/a")
        }
    }

    @Test func `A path matcher with an invalid regular expression gives that as its reason`() {
        func reasons(_ pattern: String, _ path: String) -> [String] {
            RequestMatcher.path(matching: pattern).reasonsAgainst(RecordedRequest(url: path))
        }
        #expect(reasons("/users/(", "/users/(") == ["/users/( is no regular expression"])
        #expect(reasons("/a", "/ab") == ["path is /ab, which doesn't match /a"])
    }

    @Test func `Recorded requests contain the path parameters of the route or stub that matched`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router["/users/{id}"] = JSONResponse { [$0.pathParameters["id"]] }
            try await server.ask("/users/7")
            #expect(server.requests.map(\.pathParameters) == [["id": "7"]])
            let request = try await server.nextRequest("/{kind}/{number}")
            #expect(request.pathParameters == ["id": "7", "kind": "users", "number": "7"])
            harness.session.stub("GET /users/{name}") { [weak session = harness.session] request in
                StubResponse(text: session?.requests.last == request ? "the same" : "another")
            }
            #expect(try harness.session.ask("https://api.example.com/users/ann").withLock { $0 } == "200 the same")
            #expect(harness.session.requests.map(\.pathParameters) == [["name": "ann"]])
            #expect(try await harness.session.nextRequest().pathParameters == ["name": "ann"])
        }
    }

    @Test func `A redirect is followed, and a matching If-None-Match is answered with 304`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router.on("/old") { _ in .redirect(to: "/new", status: 301) }
            server.stub("/new", StubResponse(text: "new").tagged("v1"))
            #expect(try await server.ask("/old") == "200 new")
            for known in [#""v1""#, #"W/"v1""#, #""v0", "v1""#, "*"] {
                #expect(try await server.ask("/new", fields: ["If-None-Match": known]) == "304 ", "\(known)")
            }
            #expect(try await server.ask("/new", fields: ["If-None-Match": #""v2""#]) == "200 new")
            #expect(server.requests.map(\.path).prefix(2) == ["/old", "/new"])
        }
    }

    @Test func `A mock session answers a GET with a matching If-None-Match with 304`() throws {
        let session = MockSession(delivery: .immediate)
        session.stub(.any, StubResponse.json(["a": 1]).tagged("v1"))
        let all = #"200 {"a":1}"#
        for (method, tag, expected) in [("GET", #""v1""#, "304 "), ("GET", #""v2""#, all), ("POST", "*", all), ("GET", nil, all)]
        {
            let fields = tag.map { ["If-None-Match": $0] } ?? [:]
            let (request, seen) = (try URLRequest(line: "\(method) https://api.example.com/", fields: fields), Locked(""))
            session.dataTask(with: request) { data, response, error in
                let tag = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag") ?? ""
                seen.withLock { $0 = "\(answerText(data, response, error)) \(tag)" }
            }.resume()
            #expect(seen.withLock { $0 } == #"\#(expected) "v1""#)
        }
    }

    // MARK: Addresses

    @Test func `A server listens on all addresses only when it is asked to`() async throws {
        try await withTestHarness { harness in
            for (host, tls) in [("127.0.0.1", false), ("0.0.0.0", false), ("0.0.0.0", true)] {
                let server = try await harness.startServer(host: host, tls: tls ? .throwaway : nil)
                server.stub("/", .ok).optional()
                #expect(server.host == "127.0.0.1")
                #expect(server.addresses.last == "127.0.0.1")
                // Another address of this machine, which only a server that listens on all addresses serves.
                let reached = (try? await RawWebSocket(host: "127.0.0.2", port: server.port, path: nil)) != nil
                #expect(reached == (host == "0.0.0.0"))
            }
        }
    }

    @Test(arguments: ["localhost", "::1", "1.2.3", "203.0.113.7"])
    func `An address that a server can't listen on is named in the error`(host: String) async {
        let error = await #expect(throws: LocalServer.CannotListen.self) { try await LocalServer.start(host: host, port: 4711) }
        #expect(error?.description.hasPrefix("can't listen on \(host):4711: ") == true)
    }
}

/// The names under which a server is asked for, and whose web pages use it.
struct AllowedHostsTests {
    private func isServed(host: String?, origin: String? = nil, alsoNamed others: [String] = []) -> Bool {
        var request = RecordedRequest(method: "POST", url: "/pusher/auth")
        request.headers["host"] = host
        request.headers["Origin"] = origin
        return AllowedHosts(alsoNamed: others).refusal(of: request) == nil
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:6001", "localhost", "LOCALHOST:6001", "localhost:", "dev.example:443", "Dev.Example",
    ])
    func `A request whose host or origin is this machine or a given name is served`(name: String) {
        #expect(isServed(host: name, alsoNamed: ["dev.example"]))
        for scheme in ["http", "capacitor"] {
            #expect(isServed(host: "localhost", origin: "\(scheme)://\(name)", alsoNamed: ["dev.example"]))
        }
    }

    private static let otherNames: [String?] = [
        "", ":6001", "dev.example", "127.0.0.1.elsewhere.example", "elsewhere.example:6001", "localhost.elsewhere.example",
        "127.0.0.1:6001, elsewhere.example", "elsewhere.example, 127.0.0.1", "127.0.0.1:6001@elsewhere.example",
        "192.168.0.2:6001", "[::1]:6001", "127.0.0.1 ", "127.1", "localhost\u{301}", "localhost:6001\u{301}", nil,
    ]

    @Test(arguments: otherNames) func `A request whose host or origin is any other name is refused`(name: String?) {
        #expect(!isServed(host: name))
        if let name { #expect(!isServed(host: "localhost", origin: "http://\(name)")) }
    }

    /// A page in a sandbox, and one that a browser read from a file, have no origin.
    @Test(arguments: [
        "null", "", "localhost", "http:localhost", "http:/localhost", "://", "file://", "http://a http://localhost",
    ])
    func `A request whose origin is not an address with a host is refused`(origin: String) {
        #expect(!isServed(host: "localhost", origin: origin))
    }
}
