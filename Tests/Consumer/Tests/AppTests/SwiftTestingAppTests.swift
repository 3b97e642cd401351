import Foundation
import PusherTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct SwiftTestingAppTests {
    @Test func `The harness's server serves a client that the app makes itself`() async throws {
        try await withTestHarness { harness in
            let inbox = Inbox()
            let feed = OrderFeed(harness.pusherEnvironment(), onOrder: inbox.add)
            #expect(feed.orders.subscribed)
            harness.server.publish(channel: "private-orders", event: "placed", data: "7")
            try await harness.eventually("the order is known") { inbox.all == ["7"] }
            #expect(harness.timeline.entries.contains { $0.kind == "server" && $0.text.contains("app-key") })
        }
    }

    @Test func `The error of a request without a stub names its method and URL`() throws {
        try withKnownIssue {
            try withTestHarness { harness in
                let url = try #require(URL(string: "https://api.example.com/late"))
                harness.session.dataTask(with: URLRequest(url: url)) { _, _, error in
                    #expect(error?.localizedDescription == "nothing answers GET https://api.example.com/late: nothing is stubbed")
                }.resume()
            }
        } matching: {
            $0.error is TestFailure
        }
    }

    @Test func `The result of withTestHarness need not be used`() throws {
        try withTestHarness { $0.scheduler.runNextTimer() }
    }

    @Test func `A signer answers the app's own handler, and the app's lines are in the log`() async throws {
        try await withTestHarness { harness in
            let signer = Signer()
            signer.refuse(503)
            let desk = OrderDesk(harness.pusherEnvironment(), logger: harness.makeLogger("desk")) {
                try await signer.authorize(socketID: $0, channelName: $1)
            }
            try await harness.eventually("the orders are subscribed") { desk.orders.subscribed }
            #expect(signer.requests.map(\.channelName) == ["private-orders", "private-orders"])
            // The client's lines are there, too.
            let asking = harness.logEvents(atLeast: .info).filter { "\($0.message)" == "asks to be let in" }
            #expect(asking.map(\.metadata) == [["channel": "private-orders"], ["channel": "private-orders"]])
        }
    }

    /// Parts written by a person are kept.
    @Test func `Traffic is compared whatever the port`() async throws {
        try await withTestHarness { harness in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("journey-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("orders.json")
            func traffic(_ path: String) async throws -> TrafficRecorder {
                let server = try await harness.startServer()
                server.router.on("GET /orders/{id}") { _ in .ok }
                let recorder = TrafficRecorder(environment: [:])
                let session = URLSession(configuration: recorder.recording(URLSession.shared).urlSessionConfiguration())
                _ = try await session.data(from: server.url.appendingPathComponent(path))
                return recorder
            }
            try await traffic("orders/7").record(to: file.path)
            try String(contentsOf: file, encoding: .utf8).replacingOccurrences(of: "orders/7", with: "orders/[0-9]+")
                .write(to: file, atomically: true, encoding: .utf8)
            try await traffic("orders/8").validate(against: file.path)
            try await traffic("orders/9").record(to: file.path)
            let mismatch = try await #require(throws: TrafficMismatch.self) {
                try await traffic("orders/new").validate(against: file.path)
            }
            let written = try String(contentsOf: file, encoding: .utf8)
            #expect(written.contains("orders/[0-9]+") && written.contains("localhost"), "\(written)")
            #expect("\(mismatch)".contains("orders/new"), "\(mismatch)")
        }
    }

    @Test func `A local server's own routes answer requests, with parameters and conditions`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router.on("GET" && .path(matching: "/v[0-9]+/users/(?<id>[0-9]+)")) { request in
                .json(["id": request.pathParameters["id"]]).tagged("v1")
            }
            server.router.on("GET /files/{path...}") {
                StubResponse(text: $0.pathParameters["path"] ?? "", contentType: "text/plain")
            }
            server.router.on("/old") { _ in .redirect(to: "/v1/users/7") }
            var found: [String] = []
            func ask(_ path: String, _ fields: [String: String] = [:]) async throws {
                var request = URLRequest(url: server.url.appendingPathComponent(path))
                request.cachePolicy = .reloadIgnoringLocalCacheData
                request.allHTTPHeaderFields = fields
                let (data, response) = try await URLSession(configuration: .ephemeral).data(for: request)
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                found.append("\(status) \(String(decoding: data, as: UTF8.self))")
            }
            try await ask("old")
            try await ask("v1/users/7", ["If-None-Match": "\"v1\""])
            try await ask("files/a/b.txt")
            found.append(try await server.nextRequest("GET /files/{path...}").pathParameters["path"] ?? "")
            found.append(server.requests.compactMap { $0.pathParameters["id"] }.joined(separator: " "))
            #expect(found == [#"200 {"id":"7"}"#, "304 ", "200 a/b.txt", "a/b.txt", "7 7"])
        }
    }

    @Test func `A local server's own WebSocket route talks to its client`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router.onWebSocket("/realtime/app/{key}") { request, messages, play in
                play(.establish())
                play(.event("welcome", data: request.pathParameters["key"] ?? ""))
                for await _ in messages {}
            }
            let options = PusherClientOptions(host: .host(server.host), port: server.port, path: "/realtime", useTLS: false)
            let pusher = Pusher(key: "own", options: options)
            let recorder = RecordingDelegate(of: pusher)
            pusher.connect()
            try await recorder.next { $0 == .event("welcome", data: "own") }
            pusher.disconnect()
        }
    }
}
