import Foundation
import Processes
import TestSupport
import Testing

struct LocalServerTests {
    @Test func `A server listens on a free port of the loopback interface`() async throws {
        let first = try await LocalServer.start()
        let second = try await LocalServer.start()
        #expect(first.port > 0 && first.port != second.port)
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
        server.router["/data"] = DataResponse(status: 201) { Data($0.body.reversed()) }
        server.router.on("/fail") { _ in throw RawWebSocket.Failure(description: "as planned") }
        server.router.on("/echo") { StubResponse(status: 418, text: "\($0.method) \($0.parameters["q"] ?? "") \($0.text)") }

        #expect(try await server.ask("/hello") == #"200 {"Hello":"World"}"#)
        #expect(try await server.ask("POST /data", body: "ab") == "201 ba")
        #expect(try await server.ask("/fail").hasPrefix("500 "))
        #expect(try await server.ask("PUT /echo?q=x%20y", body: "body") == "418 PUT x y body")
        server.router["/hello"] = nil
        #expect(try await server.ask("/hello").hasPrefix("404 "))
        let requests = server.requests.map { "\($0.method) \($0.path)" }
        #expect(requests == ["GET /hello", "POST /data", "GET /fail", "PUT /echo", "GET /hello"])
        await server.stop()
    }

    @Test func `Server events tell why a request was refused, without its secrets`() async throws {
        let heard = Locked<[String]>([])
        let server = try await LocalServer.start(settings: .init(onEvent: { event in heard.withLock { $0.append("\(event)") } }))
        server.router.on("/fail") { _ in throw RawWebSocket.Failure(description: "as planned\nin two lines") }
        server.router.on("/login") { _ in StubResponse(status: 401, text: "no user for token=very-secret") }
        server.router.on("/hello") { _ in StubResponse(text: "World") }
        for path in ["/fail", "/login", "/hello"] { try await server.ask(path) }
        try await server.ask("POST /pusher/auth", body: "socket_id=1.2&channel_name=news")
        await server.stop()
        let lines = heard.withLock(\.self)
        #expect(lines.first == "GET /fail 500: as planned")
        #expect(lines.contains { $0.hasPrefix("GET /login 401: no user for token=") } && !"\(lines)".contains("very-secret"))
        #expect(lines.contains("GET /hello 200"))
        #expect(lines.contains("POST /pusher/auth 403: Only private and presence channels are signed, not news"))
    }

    @Test func `A server can be stopped many times, also from several tasks at once`() async throws {
        let server = try await LocalServer.start()
        await withTaskGroup(of: Void.self) { group in for _ in 0..<8 { group.addTask { await server.stop() } } }
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
        try await withWatchdog("port free") { await pollTheSystem { (try? await LocalServer.start(port: port).stop()) != nil } }
    }
}

/// Stubs, routes with path parameters, and delayed responses.
struct LocalServerResponseTests {
    @Test func `A route's response has the content type of its kind or of the test`() async throws {
        let (json, data) = (JSONResponse { _ in 1 }, DataResponse(contentType: "text/x-test") { _ in Data() })
        let request = RecordedRequest(url: "/")
        #expect(try await json.respond(to: request).headers == ["Content-Type": "application/json"])
        #expect(try await data.respond(to: request).headers == ["Content-Type": "text/x-test"])
    }

    @Test func `A server's stubs answer in order before its routes do`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router["/a"] = JSONResponse { _ in 0 }
            server.stub("/a", .http(500), .json(1)).times(2)
            var replies: [String] = []
            for _ in 0..<3 { replies.append(try await server.ask("/a")) }
            #expect(replies == ["500 ", "200 1", "200 0"])
        }
    }

    @Test func `A server stops even while it holds an answer`() async throws {
        let server = try await LocalServer.start()
        server.stub("/held", .ok.held(by: Gate()))
        let held = Task { try await server.ask("/held") }
        try await server.nextRequest()
        await server.stop()
        // The request fails or gets this reply, but it never gets the response that was held.
        if let reply = try? await held.value { #expect(reply == "503 the server is being stopped\n") }
    }

    @Test func `A fault that a local server can't produce is answered with 500 and reported`() async throws {
        try await withTestHarness(allowing: [.unsupportedFault]) { harness in
            let server = try await harness.startServer()
            server.stub("/a", .fault(.refused))
            let reply = try await server.ask("/a")
            #expect(reply.hasPrefix("500 localServer can't do refused; it exists at: mockSession, mockWebSocket"))
            #expect(server.findings.map(\.kind) == [.unsupportedFault])
        }
    }
}
