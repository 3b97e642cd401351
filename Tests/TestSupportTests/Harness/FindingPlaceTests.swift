import Foundation
import TestSupport
import Testing

/// Findings name the origin of their subject: an object made on a line of the test names that line.
@Suite struct FindingPlaceTests {
    /// Returns a harness's findings about a test, with line numbers relative to the start of the test.
    private func findings(
        from first: Int = #line, _ body: (TestHarness) async throws -> Void
    ) async throws -> [String] {
        try await failingTest(body).findings.map { finding in
            "\(finding)".replacing(#/FindingPlaceTests.swift:(\d+)/#) { match in "+\((Int(match.1) ?? 0) - first)" }
        }
    }

    private func ask(_ path: String, _ harness: TestHarness) throws { try harness.session.ask("http://a\(path)") }

    @Test(arguments: [("the harness", 3), ("its server", 4), ("the test", 5)])
    func `An unplayed step is found once, with its script and its socket, whoever made that, for however many clients`(
        maker: String, line: Int
    ) async throws {
        let found = try await findings { harness in
            let socket =
                switch maker {
                case "the harness": harness.makeWebSocket()
                case "its server": harness.server.makeWebSocket()
                default: MockWebSocket(server: .manual, scheduler: harness.scheduler)
                }
            socket.play(.establish(), .wait(.seconds(5)), .expect("pusher:subscribe a"))
            for _ in 0..<2 { _ = harness.makePusher(socket: socket) }
            let pusher = harness.makePusher(socket: socket)
            pusher.connect()
            harness.scheduler.advance(by: .seconds(5))
            pusher.disconnect()
        }
        let step = "step 3 of 3 of script 1 (+7) of the socket made at +\(line) was not reached: expect pusher:subscribe a"
        #expect(found == ["unplayed step: \(step)"])
    }

    @Test func `Unused stubs, unplayed answers, forbidden calls, and requests without an answer are reported`() async throws {
        let found = try await findings { harness in
            harness.session.stub("GET /unused", .ok)
            harness.session.stub("GET /optional", .ok).optional()
            harness.session.stub("GET /begun", .ok, .ok, .ok)
            harness.session.stub("GET /never", .ok).never()
            harness.session.stub("GET /not-asked", .ok).never()
            for path in ["/begun", "/begun", "/never"] { try ask(path, harness) }
            try harness.session.ask("POST http://a/optional")
        }
        let unmatched = "unmatched request: nothing answers POST http://a/optional\n  not GET /optional (+2): "
        #expect(found.first?.hasPrefix(unmatched) == true)
        #expect(
            found.dropFirst() == [
                "unused stub: GET /unused (+1)", "unplayed step: GET /begun (+3) gave 2 of 3 answers",
                "unexpected call: GET /never (+4) must not be asked, and was asked once",
            ])
    }

    @Test func `A pending timer is found with the place where the test made it, a sleep without a place`() async throws {
        let sleeping = Locked<Task<Void, Never>?>(nil)
        let found = try await findings { harness in
            _ = harness.scheduler.schedule(at: .seconds(9), label: "a reminder") {}
            _ = harness.scheduler.schedule(every: .seconds(5), label: "a heartbeat") {}
            let executor = harness.makeExecutor()
            sleeping.withLock { $0 = executor.spawn { try? await harness.clock.sleep(for: .seconds(3)) } }
            await executor.settle()
        }
        let timers = ["sleep at 3.0 seconds", "a heartbeat at 5.0 seconds, made at +2", "a reminder at 9.0 seconds, made at +1"]
        #expect(found == timers.map { "pending timer: \($0)" })
        sleeping.withLock(\.self)?.cancel()
    }

    @Test func `A harness reports the findings of a socket's own server`() async throws {
        let found = try await findings { harness in
            let socket = harness.makeWebSocket(server: .trusting)
            let pusher = harness.makePusher(socket: socket)
            pusher.subscribe("news")
            pusher.connect()
            socket.publish(channel: "new", event: "headline", data: "hi")
            pusher.disconnect()
        }
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("unheard: headline on new, published at +5, reached nobody") == true, "\(found)")
    }

    @Test func `A client allowed to outlive the test must still be disconnected`() throws {
        let held = Locked<Pusher?>(nil)
        let failure = try failingTest(allowing: [.leak]) { harness in
            let pusher = harness.makePusher()
            pusher.connect()
            held.withLock { $0 = pusher }
        }
        #expect(failure.findings.map(\.kind) == [.openSocket])
    }

    @Test func `A finding recorded after the harness's end is written to standard error`() async throws {
        let child = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let harness = TestHarness()
            try harness.verify()
            harness.record("too late")
        }
        let text = try #require(child).said
        #expect(text.contains("after the end of the harness made at FindingPlaceTests.swift:") && text.contains("too late"))
    }

    @Test func `A leaked client is one finding with its socket and its timers`() async throws {
        let held = Locked<Pusher?>(nil)
        let found = try await findings { harness in
            let pusher = harness.makePusher()
            pusher.connect()
            held.withLock { $0 = pusher }
        }
        #expect(
            found == [
                """
                leak: client made at +1; the socket made at +1, in memory in the place of ws.pusherapp.com:443, is open; its timers: \
                connection at 30.0 seconds
                """
            ])
    }

    @Test func `A harness verified by hand reports an open socket as one finding with its timers`() throws {
        let harness = TestHarness()
        let pusher = OrderFeed(environment: harness.pusherEnvironment()).pusher
        pusher.connect()
        let failure = #expect(throws: TestFailure.self) { try harness.verify() }
        let found = failure?.findings.map(\.description) ?? []
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix(
                "open socket: the socket made at FindingPlaceTests.swift:\(#line - 5), in memory in the place of ws-eu") == true)
        #expect(found.first?.contains("is open; its timers: connection at ") == true, "\(found)")
        pusher.disconnect()
        try harness.verify()
    }

    @Test func `A wait in vain names its place, the virtual time, and the scheduled timers`() async throws {
        try await withTestHarness { harness in
            harness.session.stub("GET /late", .ok.delayed(by: .seconds(30)))
            try ask("/late", harness)
            let error = await #expect(throws: NothingCame.self) {
                try await harness.session.nextRequest("GET /other", within: .zero)
            }
            #expect(
                error?.description == """
                    no GET /other within 0.0 seconds at least; came: GET http://a/late; waited for at \
                    FindingPlaceTests.swift:\(#line - 3); virtual time is 0.0 seconds, scheduled: answer to GET /late at 30.0 \
                    seconds; this wait moves no time: advance it first, or use `harness.eventually`
                    """)
            harness.scheduler.advance(by: .seconds(30))
            let pusher = harness.makePusher()
            let recorder = RecordingDelegate(of: pusher)
            let silence = await #expect(throws: NothingCame.self) { try await recorder.next(within: .zero) }
            #expect(silence?.story.hasSuffix("; virtual time is 30.0 seconds, scheduled: none") == true)
        }
    }

    @Test func `A finding about an event published to nobody names the subscribed channels`() async throws {
        let found = try await findings { harness in
            let pusher = harness.makePusher()
            pusher.subscribe("private-orders")
            pusher.connect()
            harness.server.publish(channel: "private-order", event: "placed", data: "7")
            harness.server.publish(channel: "cache-orders", event: "placed", data: "7")
            pusher.disconnect()
            harness.server.publish(channel: "private-orders", event: "placed", data: "7")
        }
        #expect(
            found == [
                "unheard: placed on private-order, published at +4, reached nobody; those subscribed to are private-orders",
                "unheard: placed on private-orders, published at +7, reached nobody; nobody is subscribed to any channel",
            ])
    }

    @Test func `An event on a cache channel of a server without caching is reported as unheard`() throws {
        let failure = try failingTest(profile: .ipe) { harness in
            _ = harness.server.publish(channel: "cache-orders", event: "placed", data: "7")
        }
        #expect(failure.findings.map(\.kind) == [.unheard])
    }

    @Test func `A frame sent by either side on a closed connection is reported as unheard`() async throws {
        let found = try await findings { harness in
            let socket = harness.makeWebSocket(server: .manual)
            let pusher = harness.makePusher(socket: socket)
            pusher.connect()
            socket.accept()
            socket.serverEstablishes()
            pusher.disconnect()
            // What the SDK itself sends late is no mistake of the app's.
            socket.send(#"{"event":"pusher:subscribe","data":{"channel":"news"}}"#)
            socket.send(#"{"event":"client-late","channel":"news"}"#)
            socket.serverSendsEvent("late", channel: "news")
        }
        #expect(
            found == [
                "unheard: client-late news was sent on the socket made at +1 after the connection was closed",
                "unheard: late news, sent at +10 by the server of the socket made at +1, which has no connection for it",
            ])
    }

    @Test func `What a test has the server of a socket do that no client uses is reported as unheard`() async throws {
        let found = try await findings { harness in
            let socket = harness.makeWebSocket(server: .manual)
            socket.accept()
            socket.refuse(.connectionRefused)
            socket.serverSendsControlFrame()
            socket.serverCloses(code: 4200)
            socket.drop()
        }
        let acts = ["accepted", "refused", "a control frame, sent", "closed with 4200", "dropped"]
        #expect(
            found
                == acts.enumerated().map { line, act in
                    "unheard: \(act) at +\(line + 2) by the server of the socket made at +1, which has no connection for it"
                })
    }

    /// One that must not be asked would never be, as it seems.
    @Test func `A stub whose own text can match nothing is reported, also if it must not be asked`() async throws {
        let found = try await findings { harness in
            harness.session.stub("POST /a" && .json("{"), .ok).never()
            harness.session.stub("/b?all=true", .ok).optional()
            harness.session.stub(!.path(matching: "/c("), .ok).never()
            try? ask("/d", harness)
        }
        #expect(
            found.filter { $0.hasPrefix("error") } == [
                "error: POST /a && JSON body (+1) can never match: the matcher's own JSON can't be read: {",
                "error: /b?all=true (+2) can never match: a path has no query: give the query with .query, or the full URL",
                "error: !(path matching /c() (+3) can never match: /c( is no regular expression",
            ])
    }

    @Test func `An unused stub's finding names the stub that answered in its place`() async throws {
        let found = try await findings { harness in
            harness.session.stub("GET /users", .ok)
            harness.session.stub("/users", .ok)
            try ask("/users", harness)
        }
        #expect(found == ["unused stub: GET /users (+1), shadowed by /users (+2), which answered GET http://a/users"])
    }

    #if LocalServer
    @Test func `Findings name routes that were never asked, that threw, or that nearly matched`() async throws {
        struct Trouble: Error {}
        let found = try await findings { harness in
            let server = try await harness.startServer()
            server.router["GET /never"] = DataResponse { _ in Data() }
            server.router.on("GET /trouble") { _ in throw Trouble() }
            // The route itself isn't cancelled; the error stands for a cancelled task of its own.
            server.router.on("GET /own") { _ in throw CancellationError() }
            for path in ["/own", "/trouble", "/neverr"] { try await server.ask(path) }
        }
        #expect(found.count == 4)
        #expect(found.first?.contains("\n  not route GET /never (+2): path is /neverr, not /never") == true)
        #expect(found.contains { $0.hasPrefix("error: route GET /own (+5) threw when asked GET http://127.0.0.1:") })
        #expect(found.contains("unused stub: route GET /never (+2) was never asked"))
        #expect(found.last?.hasPrefix("error: route GET /trouble (+3) threw when asked GET http://127.0.0.1:") == true)
        #expect(found.last?.hasSuffix("/trouble: Trouble()") == true)
    }
    #endif

    @Test func `A recorder released before it heard anything is found, unless it was looked at`() async throws {
        let found = try await findings { harness in
            let pusher = harness.makePusher()
            _ = RecordingDelegate(of: pusher)
            #expect(RecordingDelegate(of: pusher).notifications.isEmpty)
            pusher.connect()
            _ = RecordingDelegate(of: pusher)
            pusher.subscribe("news")
            pusher.disconnect()
        }
        #expect(
            found
                == [2, 5].map { line in
                    """
                    unheard: the RecordingDelegate made at +\(line) was gone before it heard anything: a client holds its delegate weakly, \
                    keep it
                    """
                })
    }

    @Test func `A recorder released while its client's notifications wait on a queue is not found`() throws {
        let queue = DispatchQueue(label: "news")
        func connect(_ pusher: Pusher) {
            let recorder = RecordingDelegate(of: pusher)
            pusher.connect()
            withExtendedLifetime(recorder) {}
        }
        try withTestHarness { harness in
            let options = PusherClientOptions(delivery: .queue(queue))
            let pusher = Pusher(key: ServerApp.local.key, options: options, environment: harness.pusherEnvironment())
            queue.suspend()
            defer { queue.resume() }
            connect(pusher)
        }
    }
}
