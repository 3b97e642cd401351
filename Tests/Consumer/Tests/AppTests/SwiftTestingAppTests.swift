import Foundation
import PusherTestSupport
import TestSupportTesting
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

    @Test func `A fake gives events and a channel's updates`() async throws {
        let (updates, fake) = PusherStream.makeStream(of: ChannelUpdate.self)
        fake.yield(.event(PusherEvent(eventName: "placed", channelName: "orders", data: "7")))
        fake.yield(.memberAdded(PusherPresenceChannelMember(userID: "ann")))
        fake.finish()
        var heard: [String] = []
        for try await update in updates {
            switch update {
            case .event(let event): heard.append(event.data ?? "")
            case .memberAdded(let member): heard.append(member.userID)
            default: break
            }
        }
        #expect(heard == ["7", "ann"])
    }

    @Test func `An app survives restarts and pauses in any order`() async throws {
        try await exploreTestHarness(
            seeds: 1...3,
            actions: [
                .init("the server restarts") { harness, _ in harness.server.shutdown() },
                .advance(by: .seconds(5)),
            ]
        ) { harness -> OrderFeed in
            OrderFeed(harness.pusherEnvironment()) { _ in }
        } check: { harness, feed in
            try await harness.eventually("the orders are subscribed") { feed.orders.subscribed }
        }
    }
}

/// The shortest test of each way to test with a harness that a trait makes.
@Suite(.harness(profile: .reverb, seed: 7)) struct HarnessTraitTests {
    private func file(_ text: String, _ body: (URL) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file)
    }

    @Test func `A suite's trait gives each test a harness`() throws {
        #expect(try #require(TestHarness.current).seed == 7)
    }

    @Test(.harness(seed: 8)) func `A test's trait gives it a harness`() throws {
        #expect(try #require(TestHarness.current).seed == 8)
    }

    @Test func `URLSession.shared is answered by a stub`() async throws {
        let session = try #require(TestHarness.current).session
        session.stub("GET /orders", .json(["tea"]))
        try session.intercept(.shared, hosts: "shared.example.com")
        let url = try #require(URL(string: "https://shared.example.com/orders"))
        #expect(try await URLSession.shared.data(from: url).0 == Data(#"["tea"]"#.utf8))
    }

    @Test func `A recording of listen is replayed with its pauses`() throws {
        let harness = try #require(TestHarness.current)
        let pusher = harness.makePusher()
        let recorder = RecordingDelegate(of: pusher)
        pusher.subscribe("news")
        pusher.connect()
        let recording = """
            {"channel":"news","data":"1","event":"headline","time":"2026-05-01T12:00:00.000Z","user_id":null}
            {"channel":"news","data":"2","event":"headline","time":"2026-05-01T12:01:00.000Z","user_id":null}
            """
        try file(recording) { try harness.scheduler.advance(by: harness.server.replay(contentsOf: $0, speed: 10)) }
        #expect(recorder.notifications.last == .event("headline", channel: "news", data: "2"))
        #expect(harness.scheduler.now.description == "6.0 seconds")
    }

    @Test func `An HTTP archive's answers are stubs`() async throws {
        let harness = try #require(TestHarness.current)
        let archive = #"""
            {"log": {"entries": [{"request": {"method": "GET", "url": "https://example.com/orders"},
            "response": {"status": 200, "headers": [], "content": {"text": "[7]"}}}]}}
            """#
        try file(archive) { _ = try harness.session.replay(contentsOf: $0) }
        let url = try #require(URL(string: "https://example.com/orders"))
        #expect(try await harness.request(URLRequest(url: url)).0 == Data("[7]".utf8))
    }

    @Test func `An advance lets a task sleep three times`() async throws {
        let harness = try #require(TestHarness.current)
        let inbox = Inbox()
        let task = Task {
            for nap in 1...3 {
                try await harness.clock.sleep(for: .seconds(1))
                inbox.add("\(nap)")
            }
        }
        try await harness.advance(by: .seconds(3))
        #expect(inbox.all == ["1", "2", "3"])
        task.cancel()
    }

    @Test func `A condition comes true in virtual time`() async throws {
        let harness = try #require(TestHarness.current)
        let inbox = Inbox()
        let feed = OrderFeed(harness.pusherEnvironment(), onOrder: inbox.add)
        harness.server.shutdown()
        try await harness.eventually("the orders are subscribed again") { feed.orders.subscribed }
        harness.server.publish(channel: "private-orders", event: "placed", data: "7")
        try await harness.eventually("the order is known") { inbox.all == ["7"] }
    }
}
