import Dispatch
import Foundation
import TestSupport
import TestSupportTesting
import Testing
import XCTest

// The guide's snippets, word for word; `ci/checks/snippets` compares them.

struct OrderFeed: Sendable {
    let pusher: Pusher
    let orders: PusherChannel

    init(environment: PusherEnvironment = .live) {
        let options = PusherClientOptions(
            authMethod: .endpoint(authEndpoint: "https://example.com/pusher/auth"), host: .cluster("eu"))
        pusher = Pusher(key: "app-key", options: options, environment: environment)
        orders = pusher.subscribe("private-orders")
    }
}

@MainActor final class StatusLine: MainActorPusherDelegate {
    private(set) var text = "offline"

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) { text = "\(new)" }
}

@Suite struct GuideTests {
    @Test func `A client resubscribes after a server restart`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let news = pusher.subscribe("private-news")
            pusher.connect()
            harness.server.shutdown()
            harness.scheduler.advance(by: .seconds(5))
            #expect(news.subscribed)
        }
    }

    @Test func `An order event reaches the service's stream`() async throws {
        try await withTestHarness { harness in
            let feed = OrderFeed(environment: harness.pusherEnvironment())
            let placed = feed.orders.events(named: "placed")
            feed.pusher.connect()
            harness.server.publish(channel: "private-orders", event: "placed", data: #"{"id":7}"#)
            let first = try await harness.makeExecutor().run { _ in try await placed.first { _ in true } }
            #expect(first?.data == #"{"id":7}"#)
        }
    }

    @MainActor @Test func `The status line says connected`() async throws {
        try await withTestHarness { harness in
            let feed = OrderFeed(environment: harness.pusherEnvironment())
            let line = StatusLine()
            feed.pusher.mainActorDelegate = line
            feed.pusher.connect()
            try await harness.eventually("the line says so", within: .zero) { await line.text == "connected" }
        }
    }

    @Test func `A client resubscribes within ten seconds of a restart`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let news = pusher.subscribe("news")
            pusher.connect()
            harness.server.shutdown()
            try harness.eventually("news is subscribed again", within: .seconds(10)) { news.subscribed }
            #expect(harness.timeline.entries.contains { $0.kind == "closed" })
        }
    }

    @Test func `A client reconnects after a refusal and a close`() throws {
        try withTestHarness { harness in
            let socket = harness.makeWebSocket()
            socket.play(.refuse(.connectionRefused))
            socket.play(.establish(), .expect("pusher:subscribe news"), .close(code: 4200, reason: "Restarting"))
            let pusher = harness.makePusher(socket: socket)
            let news = pusher.subscribe("news")
            pusher.connect()
            harness.scheduler.advance(by: .seconds(10))
            #expect(news.subscribed)
            #expect(socket.requests.count == 3)
        }
    }

    @Test func `A client reconnects when the server falls silent`() throws {
        try withTestHarness { harness in
            let socket = harness.makeWebSocket()
            let pusher = harness.makePusher(socket: socket)
            let news = pusher.subscribe("news")
            pusher.connect()
            try socket.inject(.stall, onConnection: 1)
            harness.scheduler.advance(by: .seconds(30 + 30 + 1))
            #expect(socket.requests.count == 2)
            #expect(news.subscribed)
        }
    }

    @Test func `Authorization is retried after a 503 and a reset`() throws {
        try withTestHarness { harness in
            let auth = harness.session.stub("POST /pusher/auth", .http(503), .fault(.reset)).times(2)
            let pusher = harness.makePusher()
            let room = pusher.subscribe("private-room")
            pusher.connect()
            #expect(!room.subscribed)
            harness.scheduler.advance(by: .seconds(30))
            #expect(room.subscribed)
            #expect(auth.requests.map(\.form["channel_name"]) == ["private-room", "private-room"])
        }
    }

    @Test func `A backend publishes events and receives webhooks`() async throws {
        try await withTestHarness { harness in
            let (key, secret, world) = ("local-key", "local-secret", harness.pusherEnvironment())
            let api = PusherHTTPAPI(appID: "1", key: key, secret: secret, environment: world)
            let authenticator = PusherAuthenticator(key: key, secret: secret)
            harness.session.stub("POST /pusher/auth") { request in
                StubResponse { try authenticator.authorizeChannel(PusherAuthRequest(body: request.body)).json }
            }
            harness.session.stub("POST /webhooks", .ok)
            harness.server.sendWebhooks(to: "https://backend.example/webhooks")
            let pusher = harness.makePusher()
            let recorder = RecordingDelegate(of: pusher)
            pusher.subscribe("private-orders")
            pusher.connect()
            try await api.trigger(channels: ["private-orders"], eventName: "placed", data: ["id": 7])
            #expect(recorder.notifications.last == .event("placed", channel: "private-orders", data: #"{"id":7}"#))
            harness.scheduler.advance(by: .milliseconds(250))
            let verifier = PusherWebhookVerifier(secrets: [key: secret], environment: world)
            let webhook = try verifier.verify(await harness.session.nextRequest("POST /webhooks"))
            #expect(webhook.events == [.channelOccupied(channel: "private-orders")])
        }
    }

    @Test func `A local server answers a request by its route`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router["GET /users/{id}"] = JSONResponse { ["name": "user \($0.pathParameters["id"] ?? "")"] }
            let (data, _) = try await URLSession.shared.data(from: server.url.appendingPathComponent("users/7"))
            #expect(String(decoding: data, as: UTF8.self) == #"{"name":"user 7"}"#)
            #expect(try await server.nextRequest("GET /users/{id}").path == "/users/7")
        }
    }

    @Test func `A client recovers from a reset within a frame`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            let proxy = try harness.startProxy(to: server)
            try proxy.inject(.reset(after: .bytes(200)), onConnection: 1)
            let pusher = Pusher(
                key: ServerApp.local.key,
                options: PusherClientOptions(host: .host(proxy.host), port: proxy.port, useTLS: false))
            let recorder = RecordingDelegate(of: pusher)
            pusher.subscribe("news")
            pusher.connect()
            try await recorder.next { $0 == .subscribed(channel: "news") }
            #expect(proxy.connectionCount > 1)
            pusher.disconnect()
        }
    }

    #if !canImport(Darwin)
    @Test func `A stream yields prices in the published order`() async throws {
        try await withTestHarness { harness in
            let executor = harness.makeExecutor()
            let prices: [String] = try await executor.run { _ in
                let pusher = harness.makePusher()
                let events = pusher.subscribe("prices").events(named: "price")
                pusher.connect()
                for price in ["1", "2", "3"] { harness.server.publish(channel: "prices", event: "price", data: price) }
                pusher.disconnect()
                var seen: [String] = []
                for try await event in events {
                    seen.append(event.data ?? "")
                    if seen.count == 3 { break }
                }
                return seen
            }
            #expect(prices == ["1", "2", "3"])
        }
    }
    #endif

    @Test(arguments: zip([Locales.us, Locales.germany], ["123,456.5", "123.456,5"]))
    func `A price has the locale's form`(locale: Locale, written: String) throws {
        try withTestHarness { harness in
            harness.environment.locale.next = locale
            #expect(harness.environment.numberFormatter().string(from: 123_456.5) == written)
            harness.scheduler.advance(by: .seconds(60))
            #expect(harness.environment.now() == Date(timeIntervalSinceReferenceDate: 60))
        }
    }

    @Test func `A client's traffic matches the recorded file`() throws {
        try withTestHarness { harness in
            let recorder = TrafficRecorder()
            let pusher = harness.makePusher(recorder: recorder)
            let orders = pusher.subscribe("private-orders")
            pusher.connect()
            orders.trigger(eventName: "client-seen", data: ["by": "ann"])
            try recorder.validate(against: "orders.json", filter: TrafficFilter { $0.kind != .received })
        }
    }

    @Test(arguments: UInt64(1)...3)
    func `A hundred clients survive ten restarts`(seed: UInt64) throws {
        try withTestHarness(seed: seed) { harness in
            let pushers = (1...100).map { _ in harness.makePusher() }
            for pusher in pushers {
                pusher.subscribe("private-news")
                pusher.connect()
            }
            for _ in 1...10 {
                harness.server.shutdown()
                harness.scheduler.advance(by: .seconds(20))
            }
            harness.scheduler.advance(by: .seconds(300))
            #expect(harness.server.subscribers(of: "private-news").count == 100)
            #expect(pushers.allSatisfy { $0.connection.connectionState == .connected })
        }
    }

    @Test func `A redirect leads to a route with a pattern`() async throws {
        try await withTestHarness(allowing: [.unusedStub]) { harness in
            let server = try await harness.startServer()
            server.router.on("GET" && .path(matching: "/v[0-9]+/users/(?<id>[0-9]+)")) { request in
                .json(["id": request.pathParameters["id"]]).tagged("v1")
            }
            server.router.on("/old") { _ in .redirect(to: "/v1/users/7") }
            server.router.onWebSocket("/echo") { request, messages, play in
                for await message in messages {
                    if message == "bye" { return play(.close(code: 4001, reason: "that was all")) }
                    play(.send(message))
                }
            }
            let (data, _) = try await URLSession.shared.data(from: server.url.appendingPathComponent("old"))
            #expect(String(decoding: data, as: UTF8.self) == #"{"id":"7"}"#)
            #expect(server.requests.last?.pathParameters["id"] == "7")
        }
    }

    @Test func `A delayed response comes in virtual time`() async throws {
        try await withTestHarness { harness in
            harness.session.stub("GET /orders", .json(["tea"]).delayed(by: .seconds(3)))
            let url = URL(string: "https://api.example.com/orders")!
            let loading = Task { try await harness.request(URLRequest(url: url)).0 }
            _ = try await harness.session.nextRequest("GET /orders")
            harness.scheduler.advance(by: .seconds(3))
            #expect(try await String(decoding: loading.value, as: UTF8.self) == #"["tea"]"#)
        }
    }
}

/// The guide's snippets about recordings, fakes and random sequences.
@Suite final class GuideMoreTests {
    private let recording = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")

    init() throws {
        let lines = #"""
            {"channel":"private-orders","data":"{\"id\":7}","event":"placed","time":"2026-05-01T12:00:00.000Z","user_id":null}
            {"channel":"private-orders","data":"{\"id\":8}","event":"placed","time":"2026-05-01T12:00:30.000Z","user_id":null}
            """#
        try Data(lines.utf8).write(to: recording)
    }

    deinit { try? FileManager.default.removeItem(at: recording) }

    @Test(.harness(profile: .reverb, seed: 7)) func `Recorded orders come again with their pauses`() async throws {
        let harness = try #require(TestHarness.current)
        let feed = OrderFeed(environment: harness.pusherEnvironment())
        let placed = feed.orders.events(named: "placed")
        let reader = Task { try await placed.first { _ in true } }
        feed.pusher.connect()
        let length = try harness.server.replay(contentsOf: recording)
        try await harness.advance(by: length)
        #expect(try await reader.value?.data == #"{"id":7}"#)
    }

    #if os(Linux)
    /// In a process of its own, because Foundation takes note of what intercepts requests once.
    @Test func `An archive's responses answer URLSession.shared`() async {
        await #expect(processExitsWith: .success) {
            try await withTestHarness { harness in
                let archive = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).har")
                defer { try? FileManager.default.removeItem(at: archive) }
                let entry = #"""
                    {"request": {"method": "GET", "url": "https://api.example.com/orders"},
                    "response": {"status": 200, "headers": [], "content": {"text": "[\"tea\"]"}}}
                    """#
                try Data(#"{"log": {"entries": [\#(entry)]}}"#.utf8).write(to: archive)
                try harness.session.replay(contentsOf: archive)
                try harness.session.intercept(.shared, hosts: "api.example.com")
                let url = URL(string: "https://api.example.com/orders")!
                let (data, _) = try await URLSession.shared.data(from: url)
                #expect(String(decoding: data, as: UTF8.self) == #"["tea"]"#)
            }
        }
    }
    #endif

    @Test func `A client survives restarts in any order`() async throws {
        try await exploreTestHarness(
            seeds: 1...3,
            actions: [
                .init("connect") { _, pusher in pusher.connect() },
                .init("restart") { harness, _ in harness.server.shutdown() },
                .advance(by: .seconds(5)),
            ]
        ) { harness -> Pusher in harness.makePusher() }
    }

    @Test func `A fake gives the events that a test writes`() async throws {
        let (placed, fake) = PusherStream.makeStream(of: PusherEvent.self)
        fake.yield(PusherEvent(eventName: "placed", data: #"{"id":7}"#))
        let first = try await placed.first { _ in true }
        #expect(first?.data == #"{"id":7}"#)
    }
}

final class NewsTests: XCTestCase {
    private let harness = TestHarness()

    override func tearDownWithError() throws {
        try harness.verify(hasFailed: testRun?.totalFailureCount != 0)
    }

    func testEventsReachTheDelegate() {
        let pusher = harness.makePusher()
        let recorder = RecordingDelegate(of: pusher)
        pusher.subscribe("news")
        pusher.connect()
        harness.server.publish(channel: "news", event: "headline", data: "hello")
        XCTAssertEqual(recorder.subscribedChannels, ["news"])
        XCTAssertEqual(recorder.notifications.last, .event("headline", channel: "news", data: "hello"))
        pusher.disconnect()
    }
}
