import Dispatch
import Foundation
import Logging
import TestSupport
import Testing
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

/// The guide's snippets, word for word; `ci/checks/snippets` compares them.
@MainActor final class OrderList {
    private(set) var titles: [String] = []

    func load(from api: URLSession, clock: some Clock<Duration>) {
        Task {
            try await clock.sleep(for: .seconds(3), tolerance: nil)
            let (data, _) = try await api.data(from: URL(string: "https://api.example.com/orders")!)
            titles = try JSONDecoder().decode([String].self, from: data)
        }
    }
}

@MainActor final class StatusLine: MainActorPusherDelegate {
    private(set) var text = "offline"

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) { text = "\(new)" }
}

@Suite struct GuideTests {
    @Test func theClientComesBack() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let news = pusher.subscribe("private-news")
            pusher.connect()
            harness.server.shutdown()
            harness.scheduler.advance(by: .seconds(5))
            #expect(news.subscribed)
        }
    }

    @Test func ordersReachTheService() async throws {
        try await withTestHarness { harness in
            let feed = OrderFeed(environment: harness.pusherEnvironment())
            let placed = feed.orders.events(named: "placed")
            feed.pusher.connect()
            harness.server.publish(channel: "private-orders", event: "placed", data: #"{"id":7}"#)
            let first = try await harness.makeExecutor().run { _ in try await placed.first { _ in true } }
            #expect(first?.data == #"{"id":7}"#)
        }
    }

    @MainActor @Test func theStatusLineFollowsTheConnection() async throws {
        try await withTestHarness { harness in
            let feed = OrderFeed(environment: harness.pusherEnvironment())
            let line = StatusLine()
            feed.pusher.mainActorDelegate = line
            feed.pusher.connect()
            try await harness.eventually("the line says so", within: .zero) { await line.text == "connected" }
        }
    }

    @Test func theClientComesBackInTime() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let news = pusher.subscribe("news")
            pusher.connect()
            harness.server.shutdown()
            try harness.eventually("news is subscribed again", within: .seconds(10)) { news.subscribed }
            #expect(harness.timeline.entries.contains { $0.kind == "closed" })
        }
    }

    @Test func refusedOnceThenClosedThenServed() throws {
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

    @Test func aSilentServerIsNoticed() throws {
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

    @Test func authorizationIsTriedAgain() throws {
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

    @Test func aUserIsLoaded() async throws {
        try await withTestHarness { harness in
            harness.session.stub("GET /users/{id}") { .json(["name": "user \($0.pathParameters["id"] ?? "")"]) }
            let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
            let (data, _) = try await urlSession.data(from: URL(string: "https://api.example.com/users/7")!)
            #expect(String(decoding: data, as: UTF8.self) == #"{"name":"user 7"}"#)
        }
    }

    @Test func theBackendSpeaksAndIsTold() async throws {
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

    @Test func aPageIsServed() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router["GET /users/{id}"] = JSONResponse { ["name": "user \($0.pathParameters["id"] ?? "")"] }
            let (data, _) = try await URLSession.shared.data(from: server.url.appendingPathComponent("users/7"))
            #expect(String(decoding: data, as: UTF8.self) == #"{"name":"user 7"}"#)
            #expect(try await server.nextRequest("GET /users/{id}").path == "/users/7")
        }
    }

    #if os(Linux)
    @Test func aServerAsksForCertificates() async throws {
        try await withTestHarness { harness in
            let authority = try CertificateAuthority()
            let tls = ServerTLS(
                certificate: try authority.issue(), clientCertificates: .required(by: authority), versions: .tls13 ... .tls13)
            let server = try await harness.startServer(tls: tls)
            let ann = try authority.issueClient(name: "ann")
            // What a client of yours is given: the server's address, whom to trust, what to show.
            print(server.url, try authority.file().path, try ann.chainFile().path, try ann.privateKeyFile().path)
            #expect(server.certificateAuthority === authority)
        }
    }
    #endif

    @Test func aConnectionIsResetInTheMiddleOfAFrame() async throws {
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
    @Test func pricesArriveInOrder() async throws {
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
    func aPriceIsWrittenAsItsReadersDo(locale: Locale, written: String) throws {
        try withTestHarness { harness in
            harness.environment.locale.next = locale
            #expect(harness.environment.numberFormatter().string(from: 123_456.5) == written)
            harness.scheduler.advance(by: .seconds(60))
            #expect(harness.environment.now() == Date(timeIntervalSinceReferenceDate: 60))
        }
    }

    @Test func whatIsSentIsWhatWasAgreed() throws {
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
    func aHundredClientsSurviveTenRestarts(seed: UInt64) throws {
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

    @Test func theHandlerIsAskedAgain() async throws {
        try await withTestHarness { harness in
            let signer = Signer(userID: "ann")
            signer.refuse(503)
            let logger = harness.makeLogger("orders")
            let pusher = harness.makePusher { options in
                options.authMethod = .customHandler { socketID, channel in
                    logger.info("asks to be let in")
                    return try await signer.authorize(socketID: socketID, channelName: channel)
                }
            }
            let room = pusher.subscribe("presence-room")
            pusher.connect()
            try await harness.eventually("the room is joined") { room.subscribed }
            #expect(signer.requests.count == 2)
            #expect(harness.logEvents(atLeast: .info).filter { "\($0.message)" == "asks to be let in" }.count == 2)
        }
    }

    @Test func aPollRepeatsOnItsQueue() {
        let queue = DispatchQueue(label: "polls")
        let scheduler = TestScheduler(on: queue)
        let polls = RecordingDelegate()
        let poll = scheduler.schedule(every: .seconds(5), label: "poll") {
            dispatchPrecondition(condition: .onQueue(queue))
            polls.debugLog(message: "polled")
        }
        scheduler.advance(by: .seconds(11))
        poll.cancel()
        #expect(polls.log == ["polled", "polled"])
    }

    @Test func routesOfYourOwn() async throws {
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

    @Test func whatAnAppSendsByItself() async throws {
        try await withTestHarness { harness in
            harness.session.stub("POST /events", .ok)
            let recorder = TrafficRecorder()
            let session = URLSession(configuration: recorder.recording(harness.session).urlSessionConfiguration())
            var request = URLRequest(url: URL(string: "https://analytics.example.com/events?screen=party")!)
            request.httpMethod = "POST"
            _ = try await session.data(for: request)
            #expect(recorder.entries.map(\.description) == ["POST https://analytics.example.com/events"])
        }
    }

    @Test func theFeedComesBack() throws {
        try withTestHarness { harness in
            let socket = harness.makeWebSocket()
            let feed = OrderFeed(environment: harness.pusherEnvironment { socket })
            feed.pusher.connect()
            socket.drop()
            harness.scheduler.advance(by: .seconds(5))
            #expect(feed.orders.subscribed)
            #expect(socket.requests.count == 2)
        }
    }

    @Test func aSlowPageComes() async throws {
        try await withTestHarness { harness in
            harness.session.stub("GET /orders", .json(["tea"]).delayed(by: .seconds(3)))
            let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
            let loading = Task { try await urlSession.data(from: URL(string: "https://api.example.com/orders")!).0 }
            _ = try await harness.session.nextRequest("GET /orders")
            harness.scheduler.advance(by: .seconds(3))
            #expect(try await String(decoding: loading.value, as: UTF8.self) == #"["tea"]"#)
        }
    }

    @MainActor @Test func ordersAreShown() async throws {
        try await withTestHarness { harness in
            harness.session.stub("GET /orders", .json(["tea"]))
            let list = OrderList()
            list.load(from: URLSession(configuration: harness.session.urlSessionConfiguration()), clock: harness.clock)
            try await harness.eventually("the orders are there") { await list.titles == ["tea"] }
        }
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
