import Foundation
import TestSupport
import Testing

/// The timers for an event exist before its waiter is notified, so a test that then advances time moves past them.
@Suite struct TellingTests {
    private static func get(_ path: String, from session: MockSession) throws { try session.ask("http://a\(path)") }

    /// Returns what `look` sees when a waiter's matcher is asked about a request for `/late`, before the waiter is notified of it.
    private static func seenWhenTold<Seen: Sendable>(
        of response: StubResponse, _ look: @escaping @Sendable (TestScheduler) -> Seen
    ) async throws -> Seen? {
        try await withTestHarness(allowing: [.pendingTimer]) { harness in
            harness.session.stub("GET /first", .ok)
            harness.session.stub("GET /late", response)
            let (begun, continuation) = AsyncStream<Void>.makeStream()
            // Only the first call counts, because two threads may ask at once.
            let seen = Locked<Seen?>(nil)
            let matcher = RequestMatcher { [scheduler = harness.scheduler] request in
                continuation.yield()
                guard request.path == "/late" else { return false }
                let now = look(scheduler)
                seen.withLock { $0 = $0 ?? now }
                return true
            }
            async let told = harness.session.nextRequest(matcher)
            try get("/first", from: harness.session)
            for await _ in begun { break }
            try get("/late", from: harness.session)
            #expect(try await told.path == "/late")
            harness.scheduler.advance(by: .seconds(60))
            return seen.withLock { $0 }
        }
    }

    /// A delegate that notes the deadlines of the timers that exist when it is notified of a failure.
    private final class Looker: PusherDelegate, Sendable {
        let scheduler: TestScheduler
        let times = Locked<[Instant]>([])

        init(_ scheduler: TestScheduler) {
            self.scheduler = scheduler
        }

        func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
            times.withLock { $0 = scheduler.pendingTimers.map(\.deadline) }
        }
    }

    @Test func `A delegate hears of a failure after the timer of the next attempt was set`() throws {
        try withTestHarness { harness in
            harness.session.stub("POST /pusher/auth", StubResponse(status: 429, headers: ["Retry-After": "7"])).times(1)
            let pusher = harness.makePusher()
            let looker = Looker(harness.scheduler)
            pusher.delegate = looker
            pusher.subscribe("private-room")
            pusher.connect()
            #expect(looker.times.withLock(\.self).min() == .seconds(7))
            harness.scheduler.advance(by: .seconds(8))
        }
    }

    @Test func `A waiter hears of a request after the timer of its answer was set`() async throws {
        let open = Gate()
        open.open()
        for response in [
            StubResponse.ok.delayed(by: .seconds(30)), .fault(.latency(.seconds(30))),
            .ok.delayed(by: .seconds(30)).held(by: open),
        ] {
            let labels = try await Self.seenWhenTold(of: response) { $0.pendingTimers.map(\.label) }
            // A held request's own time-out is another timer.
            #expect(labels?.prefix(response.gate == nil ? 2 : 1) == ["answer to GET /late"])
        }
    }

    @Test func `A waiter hears of a request after its gate holds the answer`() async throws {
        let gate = Gate()
        let waiting = try await Self.seenWhenTold(of: .ok.held(by: gate)) { _ in gate.waitingCount }
        #expect(waiting == 1)
    }

    @Test func `Waiters hear of requests in order, also if one request causes another`() async throws {
        let session = MockSession(delivery: .immediate)
        session.stub("GET /first", .ok)
        session.stub("GET /second", .ok)
        async let paths = [session.nextRequest().path, session.nextRequest().path]
        let url = try #require(URL(string: "http://a/first"))
        session.dataTask(with: URLRequest(url: url)) { _, _, _ in try? Self.get("/second", from: session) }.resume()
        #expect(try await paths == ["/first", "/second"])
    }

    @Test func `A URLSession's delayed request has its timer as soon as a waiter hears of it`() async throws {
        for round in 1...200 {
            try await withTestHarness { harness in
                harness.session.stub("GET /late", .ok.delayed(by: .seconds(30)))
                let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
                let url = try #require(URL(string: "http://a/late"))
                async let response = urlSession.data(from: url)
                try await harness.session.nextRequest("GET /late")
                let timers = harness.scheduler.pendingTimers
                try #require(timers.map(\.label) == ["answer to GET /late"], "round \(round)")
                harness.scheduler.advance(by: .seconds(30))
                #expect(try await response.0.isEmpty)
            }
        }
    }

    @Test(arguments: ["a stub", "a route", "a late route"])
    func `A local server's delayed answer has its timer when a waiter hears of the request`(kind: String) async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer(settings: .init(scheduler: harness.scheduler))
            switch kind {
            case "a stub": server.stub("GET /late", .ok.delayed(by: .seconds(30)))
            case "a route": server.router.on("GET /late") { _ in .ok.delayed(by: .seconds(30)) }
            default: server.router["GET /late"] = JSONResponse { _ in 1 }.delayed(by: .seconds(30))
            }
            for round in 1...20 {
                async let response = server.ask("/late")
                try await server.nextRequest("GET /late")
                let timers = harness.scheduler.pendingTimers.map(\.label)
                try #require(timers == ["delayed answer"], "round \(round)")
                harness.scheduler.advance(by: .seconds(30))
                #expect(try await response.hasPrefix("200 "))
            }
        }
    }

    @Test func `An answer released by a local server's gate has the timer of its delay at once`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer(settings: .init(scheduler: harness.scheduler))
            let gate = Gate()
            server.stub("GET /late", .ok.delayed(by: .seconds(30)).held(by: gate))
            async let late = server.ask("/late")
            try await server.nextRequest("GET /late")
            #expect(gate.waitingCount == 1)
            gate.open()
            #expect(harness.scheduler.pendingTimers.map(\.label) == ["delayed answer"])
            harness.scheduler.advance(by: .seconds(30))
            #expect(try await late == "200 ")
            let another = Gate()
            server.router["GET /held"] = JSONResponse { _ in "held" }.held(by: another)
            async let held = server.ask("/held")
            try await server.nextRequest("GET /held")
            another.open()
            #expect(try await held == #"200 "held""#)
        }
    }

    @Test func `A waiter hears of a request while its route is still running`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            let (opening, signal) = AsyncStream<Never>.makeStream()
            server.router.on("GET /slow") { _ in
                for await _ in opening {}
                return .ok
            }
            async let response = server.ask("/slow")
            try await server.nextRequest("GET /slow")
            signal.finish()
            #expect(try await response == "200 ")
        }
    }

    @Test func `A script's wait has its timer before the client hears the step before it`() throws {
        try withTestHarness { harness in
            let socket = harness.makeWebSocket()
            socket.play(.establish(), .wait(.seconds(1)), .event("now"), .wait(.seconds(30)), .event("later"))
            let pusher = harness.makePusher(socket: socket)
            let labels = Locked<[String: [String]]>([:])
            pusher.bindGlobal { [scheduler = harness.scheduler] event in
                let now = scheduler.pendingTimers.map(\.label)
                labels.withLock { $0[event.eventName] = now }
            }
            pusher.connect()
            harness.scheduler.advance(by: .seconds(31))
            let heard = labels.withLock { $0 }
            #expect(heard["now"]?.contains("mock socket") == true)
            #expect(heard["later"]?.contains("mock socket") == false)
        }
    }

    @Test func `A failed webhook's retry has its timer before its failure is reported`() async throws {
        try await withTestHarness(allowing: [.pendingTimer]) { harness in
            let (failed, continuation) = AsyncStream<[String]>.makeStream()
            var settings = LocalServer.Settings(scheduler: harness.scheduler)
            // This session completes requests later, outside any call from the server.
            let session = MockSession(
                delivery: .scheduled(harness.scheduler, after: .milliseconds(1)), scheduler: harness.scheduler)
            settings.httpSession = session
            settings.onEvent = { [scheduler = harness.scheduler] event in
                if case .webhook = event { continuation.yield(scheduler.pendingTimers.map(\.label)) }
            }
            session.stub("POST /webhooks", .http(500), .ok)
            let server = try await harness.startServer(settings: settings)
            server.sendWebhooks(to: "https://backend.example/webhooks")
            let pusher = Pusher(
                key: ServerApp.local.key,
                options: PusherClientOptions(host: .host(server.host), port: server.port, useTLS: false))
            let recorder = RecordingDelegate(of: pusher)
            pusher.subscribe("news")
            pusher.connect()
            try await recorder.next { $0 == .subscribed(channel: "news") }
            harness.scheduler.advance(by: .seconds(1))
            #expect(await failed.first { _ in true }?.contains("webhook to https://backend.example/webhooks") == true)
            harness.scheduler.advance(by: .seconds(2))
            pusher.disconnect()
        }
    }
}
