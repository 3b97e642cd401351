import Foundation
import Processes
import TestSupport
import Testing

struct LocalServerTests {
    private func fetch(
        _ path: String, method: String = "GET", body: String? = nil, from server: LocalServer
    ) async throws -> (status: Int, text: String, contentType: String?) {
        let url = try #require(URL(string: server.url.absoluteString + path))
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return (http.statusCode, String(decoding: data, as: UTF8.self), http.value(forHTTPHeaderField: "Content-Type"))
    }

    @Test func `A server listens on a free port of the loopback interface`() async throws {
        let first = try await LocalServer.start()
        let second = try await LocalServer.start()
        #expect(first.port > 0)
        #expect(first.port != second.port)
        #expect(first.url.absoluteString == "http://127.0.0.1:\(first.port)")
        #expect(first.webSocketURL.absoluteString == "ws://127.0.0.1:\(first.port)")
        await first.stop()
        await second.stop()
    }

    @Test func `Starting on a taken port fails at once, and stop frees the port`() async throws {
        let first = try await LocalServer.start()
        let error = await #expect(throws: LocalServer.CannotListen.self) { try await LocalServer.start(port: first.port) }
        #expect(error?.port == first.port)
        #expect(error?.description.contains("in use") == true)
        await first.stop()
        try await startAndStop(port: first.port)
    }

    @Test(arguments: [-1, 65_536])
    func `Starting on a port below 0 or above 65535 fails`(port: Int) async {
        await #expect(throws: LocalServer.CannotListen.self) { try await LocalServer.start(port: port) }
    }

    @Test func `Routes answer requests and can be removed while the server runs`() async throws {
        let server = try await LocalServer.start()
        server.router["/hello"] = JSONResponse { _ in ["Hello": "World"] }
        server.router["/data"] = DataResponse(status: 201, contentType: "text/x-test") {
            Data($0.text.reversed().description.utf8)
        }
        server.router.on("/fail") { _ in throw RawWebSocket.Failure(description: "as planned") }
        server.router.on("/echo") { StubResponse(status: 418, text: "\($0.method) \($0.parameters["q"] ?? "") \($0.text)") }

        let hello = try await fetch("/hello", from: server)
        #expect(hello.status == 200)
        #expect(hello.text == #"{"Hello":"World"}"#)
        #expect(hello.contentType == "application/json")
        let data = try await fetch("/data", method: "POST", body: "ab", from: server)
        #expect(data.status == 201)
        #expect(data.contentType == "text/x-test")
        #expect(try await fetch("/fail", from: server).status == 500)
        let echo = try await fetch("/echo?q=x%20y", method: "PUT", body: "body", from: server)
        #expect(echo.status == 418)
        #expect(echo.text == "PUT x y body")
        server.router["/hello"] = nil
        #expect(try await fetch("/hello", from: server).status == 404)
        #expect(
            server.requests.map { "\($0.method) \($0.path)" } == [
                "GET /hello", "POST /data", "GET /fail", "PUT /echo", "GET /hello",
            ])
        await server.stop()
    }

    @Test func `Server events tell why a request was refused, without its secrets`() async throws {
        let heard = Locked<[String]>([])
        let settings = LocalServer.Settings(onEvent: { event in heard.withLock { $0.append("\(event)") } })
        let server = try await LocalServer.start(settings: settings)
        server.router.on("/fail") { _ in throw RawWebSocket.Failure(description: "as planned\nin two lines") }
        server.router.on("/login") { _ in StubResponse(status: 401, text: "no user for token=very-secret") }
        server.router.on("/hello") { _ in StubResponse(text: "World") }
        for path in ["/fail", "/login", "/hello"] { _ = try await fetch(path, from: server) }
        _ = try await fetch("/pusher/auth", method: "POST", body: "socket_id=1.2&channel_name=news", from: server)
        await server.stop()
        let lines = heard.withLock(\.self)
        #expect(lines.first == "GET /fail 500: as planned")
        #expect(lines.contains { $0.hasPrefix("GET /login 401: no user for token=") } && !"\(lines)".contains("very-secret"))
        #expect(lines.contains("GET /hello 200"))
        #expect(lines.contains("POST /pusher/auth 403: Only private and presence channels are signed, not news"))
    }

    @Test func `A request body longer than any buffer arrives whole`() async throws {
        let server = try await LocalServer.start()
        server.router.on("/length") { StubResponse(text: "\($0.body.count)") }
        let body = String(repeating: "x", count: 300_000)
        #expect(try await fetch("/length", method: "POST", body: body, from: server).text == "300000")
        await server.stop()
    }

    @Test func `A server signs at its auth endpoint and serves its HTTP API`() async throws {
        let now = Int(Date().timeIntervalSince1970)
        let server = try await LocalServer.start()
        let auth = try await fetch("/pusher/auth", method: "POST", body: "socket_id=1.2&channel_name=private-a", from: server)
        #expect(auth.status == 200)
        #expect(
            try auth.text.contains(
                Signature.channel("private-a", socketID: "1.2", key: "local-key", secret: "local-secret")))
        let request = RecordedRequest.signed("GET", "/apps/1/channels", timestamp: now)
        let channels = try await fetch("\(request.path)?\(request.query)", from: server)
        #expect(channels.text == #"{"channels":{}}"#)
        #expect(try await fetch("/apps/1/channels", from: server).status == 401)
        await server.stop()
    }

    @Test func `A server can be stopped many times, also from several tasks at once`() async throws {
        let server = try await LocalServer.start()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { await server.stop() } }
        }
        await server.stop()
        await #expect(throws: (any Error).self) { try await RawWebSocket(port: server.port) }
    }

    @Test func `A released server frees its port`() async throws {
        var server: LocalServer? = try await LocalServer.start()
        let port = try #require(server?.port)
        server = nil
        try await startAndStop(port: port)
    }

    /// Waits for a port that its owner gave back. When other tests start processes, these hold all descriptors until they execute
    /// another program.
    private func startAndStop(port: Int) async throws {
        try await withWatchdog("port free") {
            await pollTheSystem { (try? await LocalServer.start(port: port).stop()) != nil }
        }
    }
}

/// Stubs, routes with path parameters, and delayed responses.
struct LocalServerResponseTests {
    private func fetch(_ path: String, method: String = "GET", from server: LocalServer) async throws -> String {
        var request = URLRequest(url: try #require(URL(string: server.url.absoluteString + path)))
        request.httpMethod = method
        let (data, response) = try await URLSession.shared.data(for: request)
        return "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))"
    }

    @Test func `Routes match by method and path parameters, and plain paths come first`() async throws {
        try await withTestHarness(allowing: [.unmatchedRequest]) { harness in
            let server = try await harness.startServer()
            server.router["/users/me"] = JSONResponse { _ in "me" }
            server.router["GET /users/{id}"] = JSONResponse { $0.pathParameters }
            server.router.on("DELETE /users/{id}") { StubResponse(text: "bye \($0.pathParameters["id"] ?? "")") }
            #expect(try await fetch("/users/a%20b?x=1", from: server) == #"200 {"id":"a b"}"#)
            #expect(try await fetch("/users/7", method: "DELETE", from: server) == "200 bye 7")
            #expect(try await fetch("/users/me", from: server) == #"200 "me""#)
            #expect(
                try await fetch("/users/7", method: "PUT", from: server).hasPrefix("404 nothing answers PUT http://127.0.0.1:"))
            #expect(try await fetch("/users/7/x", from: server).hasPrefix("404 "))
            #expect(server.unmatchedRequests.map(\.path) == ["/users/7", "/users/7/x"])
        }
    }

    @Test func `A server's stubs answer in order before its routes do`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router["/a"] = JSONResponse { _ in 0 }
            server.stub("/a", .http(500), .json(1)).times(2)
            var replies: [String] = []
            for _ in 0..<3 { replies.append(try await fetch("/a", from: server)) }
            #expect(replies == ["500 ", "200 1", "200 0"])
        }
    }

    @Test func `A server's answer is held until its gate opens, or delayed by its scheduler`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer(settings: .init(scheduler: harness.scheduler))
            let gate = Gate()
            server.router["/held"] = JSONResponse { _ in "held" }.held(by: gate)
            server.stub("/late", StubResponse(text: "late").delayed(by: .seconds(60)))
            async let held = fetch("/held", from: server)
            try await server.nextRequest("/held")
            gate.open()
            #expect(try await held == #"200 "held""#)
            async let late = fetch("/late", from: server)
            try await server.nextRequest("/late")
            try await withWatchdog("the answer is delayed") {
                await harness.scheduler.waitForTimer(labeled: "delayed answer")
            }
            harness.scheduler.advance(by: .seconds(60))
            #expect(try await late == "200 late")
        }
    }

    @Test func `A server stops even while it holds an answer`() async throws {
        let server = try await LocalServer.start()
        server.stub("/held", .ok.held(by: Gate()))
        let held = Task { try await fetch("/held", from: server) }
        try await server.nextRequest()
        await server.stop()
        // The request fails or gets this reply, but it never gets the response that was held.
        if let reply = try? await held.value { #expect(reply == "503 the server is being stopped\n") }
    }

    @Test func `A fault that a local server can't produce is answered with 500 and reported`() async throws {
        try await withTestHarness(allowing: [.unsupportedFault]) { harness in
            let server = try await harness.startServer()
            server.stub("/a", .fault(.refused))
            let reply = try await fetch("/a", from: server)
            #expect(reply.hasPrefix("500 localServer can't do refused; it exists at: mockSession, mockWebSocket"))
            #expect(server.findings.map(\.kind) == [.unsupportedFault])
            #expect(server.findings.map(\.kind) == [.unsupportedFault])
        }
    }
}
