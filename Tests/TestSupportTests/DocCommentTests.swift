import Foundation
import Logging
import TestSupport
import Testing

/// The snippets of doc comments, word for word; `ci/checks/snippets` compares them.
struct DocCommentTests {
    private let session = MockSession(delivery: .immediate)

    /// Returns the status and the body of the immediate reply to a request such as `POST /login`.
    private func reply(_ method: String, _ path: String, form: String = "") throws -> String {
        try session.ask("\(method) https://example.com\(path)", body: form).withLock { $0 } ?? ""
    }

    // MARK: The harness and its doubles

    /// ``Signer``.
    @Test func `An authorization handler gets its signatures from a signer`() async throws {
        try await withTestHarness { harness in
            let signer = Signer(userID: "ann")
            let pusher = harness.makePusher { options in
                options.authMethod = .customHandler { try await signer.authorize(socketID: $0, channelName: $1) }
                options.userAuthMethod = .customHandler { try await signer.authenticate(socketID: $0) }
            }
            pusher.connect()
            let user = try await pusher.signIn()
            #expect(user == "ann")
            #expect(signer.requests.map(\.channelName) == [nil])
        }
    }

    /// ``TestHarness``.
    @Test func `A client is subscribed again after the harness's server shuts down`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let news = pusher.subscribe("news")
            pusher.connect()
            harness.server.shutdown()
            harness.scheduler.advance(by: .seconds(2))
            #expect(news.subscribed)
        }
    }

    /// ``TestHarness/eventually(_:within:file:line:_:)``.
    @Test func `A harness moves virtual time until a condition holds`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let orders = pusher.subscribe("private-orders")
            pusher.connect()
            harness.server.shutdown()
            try harness.eventually("the orders are subscribed", within: .seconds(10)) { orders.subscribed }
        }
    }

    /// ``TestHarness/logEvents(atLeast:)``.
    @Test func `A harness's log events can be read from a given level on`() throws {
        try withTestHarness { harness in
            harness.makeLogger("orders").info("asking")
            #expect(harness.logEvents(atLeast: .warning).isEmpty)
        }
    }

    /// ``differencesInJSON(_:from:)``.
    @Test func `An event's data is compared as JSON`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let orders = pusher.subscribe("orders")
            orders.bind(eventName: "placed") { event in
                #expect(differencesInJSON(event.data, from: #"{"id": 7}"#) == [])
            }
            pusher.connect()
            harness.server.publish(channel: "orders", event: "placed", data: #"{"by":"ann","id":7}"#)
        }
    }

    /// ``RecordingDelegate``.
    @Test func `A test can wait for a notification of a recording delegate`() async throws {
        try await withTestHarness { harness in
            let pusher = harness.makePusher()
            pusher.subscribe("news")
            let recorder = RecordingDelegate(of: pusher)
            pusher.connect()
            try await recorder.next { $0 == .subscribed(channel: "news") }
            #expect(recorder.states == [.connecting, .connected])
        }
    }

    /// ``MockWebSocket/play(_:)``.
    @Test func `A socket plays one script per connection, then its server takes over`() throws {
        try withTestHarness { harness in
            let socket = harness.makeWebSocket()
            let pusher = harness.makePusher(socket: socket)
            let news = pusher.subscribe("news")
            socket.play(.refuse(.connectionRefused))
            socket.play(.establish(), .expect("pusher:subscribe news"), .close(code: 4200))
            pusher.connect()
            harness.scheduler.advance(by: .seconds(10))
            #expect(socket.requests.count == 3)
            #expect(news.subscribed)
        }
    }

    /// ``TestExecutor``.
    @Test func `A task on a test executor ends when its virtual sleep is over`() async throws {
        #if !canImport(Darwin)  // On Darwin, the executor needs a newer system than the package does.
        // A task that didn't end would be a deadlock, which is thrown.
        try await TestExecutor().run { executor in
            let poll = executor.spawn { try? await executor.clock.sleep(for: .seconds(3)) }
            await executor.advance(by: .seconds(3))
            await poll.value
        }
        #endif
    }

    // MARK: Stubs

    /// ``RequestStubbing/stub(_:_:_:file:line:)``.
    @Test func `A stub gives its answers in order and repeats the last one`() throws {
        session.stub("POST /pusher/auth", .http(500), .http(500), .json(["auth": "key:signature"]))
        let replies = try (1...4).map { _ in try reply("POST", "/pusher/auth") }
        #expect(replies == ["500 ", "500 ", #"200 {"auth":"key:signature"}"#, #"200 {"auth":"key:signature"}"#])
    }

    /// ``Scenario``.
    @Test func `A scenario's state decides which stub answers a request`() throws {
        let visit = Scenario("visit", startingIn: "signed out")
        session.stub("GET /me", .http(401)).in(visit, state: "signed out").optional()
        session.stub("POST /login", .ok).in(visit, state: "signed out", then: "signed in")
        session.stub("GET /me", .json(["name": "Ann"])).in(visit, state: "signed in")
        #expect(try reply("GET", "/me") == "401 ")
        #expect(try reply("POST", "/login") == "200 ")
        #expect(try reply("GET", "/me") == #"200 {"name":"Ann"}"#)
    }

    /// ``Matcher``.
    @Test func `Matchers select the requests that a stub answers and the frames that a script expects`() throws {
        try withTestHarness { harness in
            let socket = harness.makeWebSocket()
            session.stub("POST /pusher/auth" && .form(["channel_name": "private-room"]), .json(["auth": "key:signature"]))
            socket.play(.establish(), .expect("pusher:subscribe" && .channel("news")))
            let replies = try ["room", "hall"].map { try reply("POST", "/pusher/auth", form: "channel_name=private-\($0)") }
            #expect(replies.map { $0.hasPrefix("200") } == [true, false])
            let pusher = harness.makePusher(socket: socket)
            pusher.connect()
            pusher.subscribe("news")
            // What was not expected, or didn't come, the harness reports.
            #expect(socket.frames.map(\.channel) == ["news"])
        }
    }

    /// ``MockSession/urlSessionConfiguration()``.
    @Test func `A URLSession with a mock's configuration is answered by the mock's stubs`() async throws {
        session.stub("GET /me", .json(["name": "Ann"]))
        let urlSession = URLSession(configuration: session.urlSessionConfiguration())
        let (data, _) = try await urlSession.data(from: try #require(URL(string: "https://example.com/me")))
        #expect(String(decoding: data, as: UTF8.self) == #"{"name":"Ann"}"#)
    }

    // MARK: Environment

    /// ``MockValue``.
    @Test func `A mock value can be set, come from a sequence, or be unimplemented`() {
        let environment = TestEnvironment()
        let (start, end) = (Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 60))
        environment.calendar.next = Calendar(identifier: .buddhist)
        environment.now.sequence([start, end])
        environment.locale.unimplemented()
        #expect(environment.calendar().identifier == .buddhist)
        #expect([environment.now(), environment.now()] == [start, end])
        #expect(environment.issues.isEmpty)
        _ = environment.locale()
        #expect(environment.issues == ["locale was used, but is unimplemented"])
    }

    /// ``TestEnvironment``.
    @Test func `A struct of closures can read the test environment's mock values`() {
        struct World {
            let locale: @Sendable () -> Locale
            let now: @Sendable () -> Date
        }
        let environment = TestEnvironment()
        environment.locale.next = Locales.germany
        let world = World(locale: environment.locale.function, now: environment.now.function)
        environment.scheduler.advance(by: .seconds(3))  // moves `now`, too
        #expect(world.locale() == Locales.germany)
        #expect(world.now() == Date(timeIntervalSinceReferenceDate: 3))
    }

    // MARK: Traffic

    /// ``TrafficRecorder``. Compiled only: it would write a file beside this one, and call servers.
    func signIn() throws {
        let recorder = TrafficRecorder()
        let environment = PusherEnvironment(
            httpSession: recorder.recording(URLSession.shared),
            makeWebSocket: { recorder.recording(DefaultTransport.makeWebSocket()) })
        // … what the app does …
        try recorder.record(to: "sign-in.json")  // the first time; from then on:
        try recorder.validate(against: "sign-in.json")
        _ = environment
    }

    /// ``TrafficFilter``.
    @Test func `A traffic filter decides which entries are recorded and validated`() throws {
        let rig = TrafficRig()
        let recorder = rig.recorder
        rig.get("https://api.example.com/me", "https://api.example.com/health", "https://analytics.example.com/tap")
        let (socket, recording) = rig.openSocket()
        socket.serverSends("tick")
        withExtendedLifetime(recording) {}
        try rig.write(#"[{"url": "https://analytics.example.com/tap"}]"#, to: "analytics.json")
        try recorder.record(to: "sign-in.json", filter: .host("api.example.com") && !.path("/health") || .frames)
        try recorder.validate(against: "analytics.json", filter: "https://analytics.example.com")
        let written = try rig.json(of: "sign-in.json").arrayValue?.map { $0["url"] ?? $0["data"] }
        #expect(written == ["https://api.example.com/me", "tick"])
    }

    /// ``Redaction``.
    @Test func `A redaction hides standard and given names and given texts, and shows excepted names`() throws {
        let redaction = Redaction.standard.hiding(names: ["iban"], texts: ["correct horse"]).showing(names: ["page_token"])
        let rig = TrafficRig(redaction: redaction)
        rig.post(#"{"iban": "DE02", "page_token": "7", "password": "p", "note": "a correct horse"}"#)
        try rig.recorder.record(to: "traffic.json")
        let hidden: JSONValue = ["iban": "<redacted>", "page_token": "7", "password": "<redacted>", "note": "a <redacted>"]
        #expect(try rig.json().arrayValue?.first?["body"] == hidden)
    }

    @Test func `A route matched by a regular expression reads its named groups as path parameters`() async throws {
        try await withTestHarness(allowing: [.unusedStub]) { harness in
            let server = try await harness.startServer()
            server.router.on("GET" && .path(matching: "/users/(?<id>[0-9]+)")) { .json(["id": $0.pathParameters["id"]]) }
            server.router.onWebSocket("/echo") { request, messages, play in
                for await message in messages { play(.send(message)) }
            }
            let (data, _) = try await URLSession.shared.data(from: server.url.appendingPathComponent("users/7"))
            #expect(String(decoding: data, as: UTF8.self) == #"{"id":"7"}"#)
        }
    }

    @Test func `A client is connected again after random sequences of restarts and pauses`() async throws {
        try await exploreTestHarness(
            seeds: 1...3,
            actions: [
                .init("the server restarts") { harness, _ in harness.server.shutdown() },
                .advance(by: .seconds(5)),
            ]
        ) { harness -> Pusher in
            let pusher = harness.makePusher()
            pusher.connect()
            return pusher
        } check: { harness, pusher in
            try await harness.eventually("it is connected") { pusher.connection.connectionState == .connected }
        }
    }

    @Test func `A recorder's URLSession configuration contains exactly one protocol class`() {
        let recorder = TrafficRecorder()
        let urlSession = URLSession(configuration: recorder.recording(URLSession.shared).urlSessionConfiguration())
        #expect(urlSession.configuration.protocolClasses?.count == 1)
    }
}
