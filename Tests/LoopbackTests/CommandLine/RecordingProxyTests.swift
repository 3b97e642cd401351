#if os(Linux)
import Foundation
import FoundationNetworking
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// `serve --record`: programs that know nothing of it are pointed at it.
@Suite(.serialized) struct RecordingProxyTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID().uuidString).har")

    private func recorded() throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `What a program says through the proxy is recorded without secrets, and replayed in a test`(signal: Int32) async throws {
        try await withServer { [file] upstream in
            defer { try? FileManager.default.removeItem(at: file) }
            let cookies = "id=s3cret; Expires=Wed, 21 Oct 2037 07:28:00 GMT, xsrf=s3cret"
            upstream.router.on("GET /orders") { request in
                let isAnn = request.header("Authorization") == "Bearer s3cret" && request.header("Cookie") == "id=s3cret"
                return StubResponse(status: isAnn ? 200 : 401, headers: ["Set-Cookie": cookies], body: Data("[]".utf8))
            }
            let (proxy, port) = try await Command.server("--record", file.path, "--upstream", "\(upstream.url)")
            #expect(try recorded().contains(#""entries": []"#))

            let client = LiveClient(port: port, auth: .endpoint(authEndpoint: "http://127.0.0.1:\(port)/pusher/auth"))
            try await client.connect()
            try await client.subscribe("private-orders")
            let api = PusherHTTPAPI(
                appID: "1", key: "local-key", secret: "local-secret", host: .host("127.0.0.1"), port: port, useTLS: false,
                options: .patient)
            try await api.trigger(channels: ["private-orders"], eventName: "created", data: "tea")
            #expect(try await client.event("created") == "tea")
            var orders = try HTTPRig.request(port: port, "/orders")
            orders.allHTTPHeaderFields = ["Authorization": "Bearer s3cret", "Cookie": "id=s3cret"]
            #expect(try await HTTPRig().reply(orders) == "200 []")
            client.pusher.disconnect()
            proxy.signal(signal)
            #expect(await proxy.end() == .exit(0))

            let text = try recorded()
            let hasSignature = text.contains(#/[0-9a-f]{64}/#)
            #expect(!text.contains("s3cret") && !hasSignature, "\(text)")
            #expect(text.contains("\(upstream.url)/orders") && !text.contains(":\(port)"), "\(text)")
            try Self.replay(file)
        }
    }

    /// A server of Channels takes a megabyte.
    @Test func `A request of two megabytes is passed on`() async throws {
        try await withServer { [file] upstream in
            defer { try? FileManager.default.removeItem(at: file) }
            upstream.router.on("POST /photos") { StubResponse(text: "\($0.body.count)") }
            let (proxy, port) = try await Command.server("--record", file.path, "--upstream", "\(upstream.url)")
            let photo = String(repeating: " ", count: 2 << 20)
            let reply = try await HTTPRig().reply(HTTPRig.request(port: port, "/photos", method: "POST", body: photo))
            #expect(reply == "200 \(2 << 20)")
            proxy.signal(SIGTERM)
            #expect(await proxy.end() == .exit(0))
        }
    }

    private static func replay(_ file: URL) throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let recorder = RecordingDelegate(of: pusher)
            pusher.subscribe("private-orders")
            pusher.connect()
            harness.scheduler.advance(by: try harness.server.replay(contentsOf: file))
            #expect(recorder.notifications.last == .event("created", channel: "private-orders", data: "tea"))
            #expect(try harness.session.replay(contentsOf: file).map { $0.optional() }.count == 2)
        }
    }

    /// Runs `body` with a proxy in this process, and ends it rather than wait for ever.
    private func withProxy(
        to upstream: String, limit: Int = 1 << 20, onFull: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (RecordingProxy, LocalServer) async throws -> Void
    ) async throws {
        let proxy = RecordingProxy(
            to: try #require(RecordingProxy.Upstream([upstream])), limit: limit,
            environment: PusherEnvironment(
                httpSession: NetworkHTTPSession(loop: .patient), makeWebSocket: { NetworkWebSocket(loop: .patient) }),
            onFull: onFull)
        var settings = LocalServer.Settings()
        settings.addRoutes = { proxy.addRoutes(to: $0) }
        let server = try await LocalServer.start(settings: settings)
        try await withWatchdog { try await body(proxy, server) }
        await server.stop()
    }

    @Test func `An upstream that can't be reached is a 502 that says so, and a closed WebSocket`() async throws {
        let refusing = try RawServer.refusingPort()
        defer { close(refusing.descriptor) }
        try await withProxy(to: "http://127.0.0.1:\(refusing.port)") { _, server in
            let reply = try await HTTPRig().reply(HTTPRig.request(port: server.port, "/orders"))
            #expect(reply.hasPrefix("502 http://127.0.0.1:\(refusing.port) can't be asked: "), "\(reply)")
            let rig = SocketRig()
            rig.open(port: server.port, path: "/app/local-key")
            let end = try #require(await rig.events.untilClosed().last)
            #expect("\(end)".contains("code: 1011, reason: \"No connection to the upstream: "), "\(end)")
        }
    }

    @Test func `The upstream's close code and its redirects reach the client as they are`() async throws {
        try await withServer { upstream in
            upstream.router.on("/old") { _ in .redirect(to: "/new", status: 307) }
            try await withProxy(to: "\(upstream.webSocketURL)/") { _, server in
                let reply = try await HTTPRig().session.response(to: HTTPRig.request(port: server.port, "/old"))
                #expect(reply.response.statusCode == 307 && reply.response.value(forHTTPHeaderField: "Location") == "/new")
                let rig = SocketRig()
                rig.open(port: server.port, path: "/app/unknown?protocol=7")
                let end = try #require(await rig.events.untilClosed().last)
                #expect("\(end)".contains("code: 4001"), "\(end)")
            }
        }
    }

    @Test func `A full recording says so once, and traffic is still passed on`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let full = Locked(0)
        try await withServer { [file] upstream in
            upstream.router.on("/{path}") { _ in .ok }
            try await withProxy(to: "\(upstream.url)", limit: 1, onFull: { full.withLock { $0 += 1 } }) { proxy, server in
                for path in ["/first", "/second", "/third"] {
                    #expect(try await HTTPRig().reply(HTTPRig.request(port: server.port, path)) == "200 ")
                }
                try proxy.save(to: file.path)
            }
        }
        #expect(full.withLock(\.self) == 1)
        let text = try recorded()
        #expect(text.contains("/first") && !text.contains("/second"), "\(text)")
    }

    @Test func `An earlier recording stays until something is recorded`() async throws {
        try Data("earlier".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (proxy, _) = try await Command.server("--record", file.path, "--upstream", "http://127.0.0.1:1")
        proxy.signal(SIGHUP)
        #expect(await proxy.end() == .exit(0))
        #expect(try recorded() == "earlier")
    }

    @Test func `A recording that can't be written is an error as soon as the command starts`() async throws {
        let run = try await Command.run("serve --port 0 --record /dev/null/a.har --upstream http://127.0.0.1:1")
        #expect(run.failed(1, "/dev/null/a.har can't be written: ") && run.output == [], "\(run)")
    }
}
#endif
