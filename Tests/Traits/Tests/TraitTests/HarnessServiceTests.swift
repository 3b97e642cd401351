import PusherChannels
import ServiceLifecycle
import TestSupport
import Testing

/// Services beside a test in a harness.
@Suite(.timeLimit(.minutes(3))) struct HarnessServiceTests {
    private struct Trouble: Error {}

    private struct Failing: Service {
        func run() async throws { throw Trouble() }
    }

    @Test func `A client and its reader run as services beside a test's body and end with it`() async throws {
        try await withTestHarness { harness in
            let pusher = harness.makePusher()
            let news = pusher.subscribe("news")
            let (stream, continuation) = AsyncStream<String?>.makeStream()
            let reader = EventReader(events: news.events(named: "headline"), read: continuation)
            let receivers = try await harness.withServices(pusher, reader) {
                try await harness.eventually("the news are subscribed", within: .zero) { news.subscribed }
                return harness.server.publish(channel: "news", event: "headline", data: "hello")
            }
            #expect(receivers == 1)
            #expect(await stream.reduce(into: []) { $0.append($1) } == ["hello"])
            #expect(pusher.connection.connectionState == .disconnected)
        }
    }

    @Test func `A client's service ends with the test's body even if the harness has an idle executor`() async throws {
        try await withTestHarness { harness in
            let executor = harness.makeExecutor()
            let pusher = harness.makePusher()
            try await harness.withServices(pusher) {
                try await harness.eventually("it is connected", within: .zero) { pusher.connection.connectionState == .connected }
            }
            #expect(pusher.connection.connectionState == .disconnected)
            withExtendedLifetime(executor) {}
        }
    }

    /// A service that does nothing but wait for the shutdown.
    private struct Idle: Service {
        func run() async throws { try await gracefulShutdown() }
    }

    @Test func `A body that ends at once doesn't shut its services down before they run`() async throws {
        try await withTestHarness { harness in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...100 { group.addTask { try await harness.withServices(Idle()) {} } }
                try await group.waitForAll()
            }
        }
    }

    @Test func `The error of a failed service is thrown to the test`() async throws {
        try await withTestHarness { harness in
            await #expect(throws: Trouble.self) { try await harness.withServices(Failing()) {} }
        }
    }

    /// The reader of the page "In a service": it waits a minute to ask again when the group is shut down, and that ends without an error.
    @Test func `A reader that waits to retry a refused channel ends with the group, without an error`() async throws {
        try await withTestHarness { harness in
            harness.session.stub("POST /pusher/auth", .http(403)).times(1)
            let pusher = harness.makePusher()
            let recorder = RecordingDelegate(of: pusher)
            let readers = ["private-room", "news"].map {
                DocCommentTests.ChannelReader(pusher: pusher, channel: $0, clock: harness.clock)
            }
            try await harness.withServices(pusher, readers[0], readers[1]) {
                try await harness.eventually("one is refused and the other subscribed", within: .zero) {
                    recorder.notifications.contains { $0.failure?.code == 403 }
                        && recorder.notifications.contains(.subscribed(channel: "news"))
                }
            }
        }
    }

    /// A service that waits for an hour at a time and does not listen for a shutdown.
    private struct Sleeper: Service {
        let clock: any Clock<Duration>

        func run() async throws {
            while true { try await clock.sleep(for: .seconds(3600)) }
        }
    }

    @Test func `Virtual time passes while a group's shutdown waits for a slow connection`() async throws {
        try await withTestHarness { harness in
            let socket = harness.makeWebSocket(server: .trusting)
            let pusher = harness.makePusher(socket: socket)
            try await harness.withServices(pusher) {
                try await harness.eventually { pusher.connection.connectionState == .connected }
                try socket.inject(.latency(.milliseconds(200)))
            }
            #expect(pusher.connection.connectionState == .disconnected)
        }
    }

    @Test func `A service that ignores the shutdown fails the test, with advice`() async throws {
        try await withTestHarness { harness in
            let error = await #expect(throws: NeverHappened.self) {
                try await harness.withServices(Sleeper(clock: harness.clock)) {}
            }
            #expect(error?.description.contains("`cancelWhenGracefulShutdown` does") == true, "\(error as Any)")
        }
    }

    @Test func `The services of a cancelled test are cancelled`() async throws {
        try await withTestHarness { harness in
            let test = Task {
                try await harness.withServices(Sleeper(clock: harness.clock)) {
                    try await harness.eventually(patience: .seconds(3600)) { false }
                }
            }
            test.cancel()
            await #expect(throws: CancellationError.self) { try await test.value }
        }
    }

    @Test func `A test that waits in vain is told which error ended a service`() async throws {
        try await withTestHarness { harness in
            let error = await #expect(throws: NeverHappened.self) {
                try await harness.withServices(Failing()) {
                    try await harness.eventually("it happens", patience: .zero) { false }
                }
            }
            #expect(error?.description.contains("\na service failed: Trouble(); other threads had ") == true, "\(error as Any)")
        }
    }

    @Test func `An error of the test's body is thrown, and the client is disconnected`() async throws {
        struct Own: Error {}
        try await withTestHarness { harness in
            let pusher = harness.makePusher()
            await #expect(throws: Own.self) { try await harness.withServices(pusher) { throw Own() } }
            #expect(pusher.connection.connectionState == .disconnected)
        }
    }
}
