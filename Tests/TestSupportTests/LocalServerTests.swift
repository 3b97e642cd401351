import Foundation
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

    @Test func `It listens on a free port of the loopback interface`() async throws {
        let first = try await LocalServer.start()
        let second = try await LocalServer.start()
        #expect(first.port > 0)
        #expect(first.port != second.port)
        #expect(first.url.absoluteString == "http://127.0.0.1:\(first.port)")
        #expect(first.webSocketURL.absoluteString == "ws://127.0.0.1:\(first.port)")
        await first.stop()
        await second.stop()
    }

    @Test func `A taken port is an error at once, and free again after stop`() async throws {
        let first = try await LocalServer.start()
        let error = await #expect(throws: LocalServer.CannotListen.self) { try await LocalServer.start(port: first.port) }
        #expect(error?.port == first.port)
        #expect(error?.description.contains("in use") == true)
        await first.stop()
        try await startAndStop(port: first.port)
    }

    @Test(arguments: [-1, 65_536])
    func `There is no such port`(port: Int) async {
        await #expect(throws: LocalServer.CannotListen.self) { try await LocalServer.start(port: port) }
    }

    @Test func `Paths of the test's own are served, replaced and removed while it runs`() async throws {
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

    @Test func `A body longer than any buffer arrives whole`() async throws {
        let server = try await LocalServer.start()
        server.router.on("/length") { StubResponse(text: "\($0.body.count)") }
        let body = String(repeating: "x", count: 300_000)
        #expect(try await fetch("/length", method: "POST", body: body, from: server).text == "300000")
        await server.stop()
    }

    @Test func `The authorisation endpoint and the HTTP API are served`() async throws {
        let now = Int(Date().timeIntervalSince1970)
        let server = try await LocalServer.start()
        let auth = try await fetch("/pusher/auth", method: "POST", body: "socket_id=1.2&channel_name=private-a", from: server)
        #expect(auth.status == 200)
        #expect(
            auth.text.contains(
                Signature.channel("private-a", socketID: "1.2", key: "local-key", secret: "local-secret")))
        let request = RecordedRequest.signed("GET", "/apps/local/channels", timestamp: now)
        let channels = try await fetch("\(request.path)?\(request.query)", from: server)
        #expect(channels.text == #"{"channels":{}}"#)
        #expect(try await fetch("/apps/local/channels", from: server).status == 401)
        await server.stop()
    }

    @Test func `Stopping is idempotent, also from many sides at once`() async throws {
        let server = try await LocalServer.start()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { await server.stop() } }
        }
        await server.stop()
        await #expect(throws: (any Error).self) { try await RawWebSocket(port: server.port) }
    }

    @Test func `A server that nobody holds gives its port back`() async throws {
        var server: LocalServer? = try await LocalServer.start()
        let port = try #require(server?.port)
        server = nil
        try await startAndStop(port: port)
    }

    /// Waits for a port that its owner gave back: where other tests start processes, these hold all descriptors until they
    /// become another program.
    private func startAndStop(port: Int) async throws {
        try await withWatchdog("port free") {
            while (try? await LocalServer.start(port: port).stop()) == nil { await Task.yield() }
        }
    }
}
