import Foundation
import MetricsTestKit
import PusherChannels
import TestSupport
import Testing

/// The metrics that a client adds to the application's, in an in-memory backend.
@Suite struct MetricsTests {
    @Test func `Connection attempts are counted, and closes are counted by their codes`() throws {
        let client = TracedClient()
        client.pusher.connect()
        client.socket.serverCloses(code: 4100)
        client.scheduler.advance(by: .seconds(10))
        client.socket.serverCloses(code: 4137)
        client.scheduler.advance(by: .seconds(20))
        client.socket.drop()
        client.scheduler.advance(by: .seconds(60))
        client.socket.serverCloses(code: 4001)
        #expect(try client.count("connection_attempts_total") == 4)
        let codes = ["4100", "4100-4199", "connection_lost", "4001"]
        #expect(try codes.map { try client.count("connection_closes_total", [("code", $0)]) } == [1, 1, 1, 1])
        #expect(try ["connecting", "connected", "reconnecting"].map(client.level) == [0, 0, 0])
    }

    /// A socket that takes its time to close, as real ones do.
    private final class SlowlyClosing: WebSocket {
        let socket = MockWebSocket()
        var delegate: (any WebSocketDelegate)? {
            get { socket.delegate }
            set { socket.delegate = newValue }
        }
        func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) { socket.open(request, attempt: attempt) }
        func send(_ text: String) { socket.send(text) }
        func close(code: UInt16, reason: String) {}
        func setReading(_ reading: Bool) { socket.setReading(reading) }
    }

    /// After a client is released, nothing is left to be notified that its connection is closed.
    @Test func `A client that was released is counted in no connection state`() throws {
        let metrics = TestMetrics()
        let socket = SlowlyClosing()
        do {
            var environment = PusherEnvironment(scheduler: TestScheduler(), makeWebSocket: { socket })
            environment.metricsFactory = metrics
            let pusher = Pusher(key: "key", options: PusherClientOptions(delivery: .immediate), environment: environment)
            pusher.connect()
            #expect(pusher.connection.connectionState == .connected)
        }
        for state in ["connecting", "connected", "disconnecting"] {
            #expect(try metrics.expectMeter("pusher_connections", [("state", state)]).lastValue == 0, "\(state)")
        }
    }

    @Test func `Channels are counted by state, and those of a released client aren't counted`() throws {
        var client: TracedClient? = TracedClient { options, _ in
            options.authMethod = .endpoint(authEndpoint: "https://example.com/auth")
        }
        let metrics = try #require(client?.metrics)
        func levels() throws -> [Double] {
            try ["subscribed", "pending", "failed"].map {
                try metrics.expectMeter("pusher_channels", [("state", $0)]).lastValue ?? 0
            }
        }
        client?.session.stub("POST https://example.com/auth", .http(403))
        for channel in ["news", "prices", "private-a"] { client?.pusher.subscribe(channel) }
        #expect(try levels() == [0, 3, 0])
        client?.pusher.connect()
        #expect(try levels() == [2, 0, 1])
        client?.pusher.unsubscribe("private-a")
        client?.socket.drop()
        #expect(try levels() == [0, 2, 0])
        client = nil
        #expect(try levels() == [0, 0, 0], "a client that is gone has no channels")
    }

    @Test func `Publishes are counted and timed by outcome, under Pusher's or OpenTelemetry's names`() async throws {
        let (metrics, session) = (TestMetrics(), MockSession(delivery: .immediate))
        func api(_ names: TelemetryNames) -> PusherHTTPAPI {
            var environment = PusherEnvironment(httpSession: session)
            environment.metricsFactory = metrics
            environment.telemetryNames = names
            return PusherHTTPAPI(
                appID: "1", key: "key", secret: "s", host: .host("api.example"),
                options: PusherHTTPAPIOptions(retryPolicy: .none), environment: environment)
        }
        session.stub(.path("/apps/1/batch_events"), .json([String: String]()))
        session.stub(.path("/apps/1/events"), .http(503))
        let events = [1, 2].map { PusherBatchEvent(channel: "news", eventName: "n", data: $0) }
        let system = [("messaging.system", "pusher"), ("messaging.operation.name", "publish")]
        for names in [TelemetryNames.pusher, .openTelemetry] {
            try await api(names).triggerBatch(events)
            await #expect(throws: PusherError.self) { try await api(names).trigger(channels: ["news"], eventName: "n", data: 1) }
        }
        for (count, outcome, labels) in [(2, "success", system), (1, "failure", system + [("error.type", "503")])] {
            let counters = [
                try metrics.expectCounter("pusher_published_events_total", [("outcome", outcome)]),
                try metrics.expectCounter("messaging.client.sent.messages", labels),
            ]
            #expect(counters.map(\.totalValue) == [Int64(count), Int64(count)])
            #expect(try metrics.expectTimer("pusher_publish_seconds", [("outcome", outcome)]).values.count == 1)
            #expect(try metrics.expectTimer("messaging.client.operation.duration", labels).values.count == 1)
        }
    }

    @Test func `A client's metrics can all have OpenTelemetry's names`() throws {
        let metrics = TestMetrics()
        let socket = MockWebSocket()
        var environment = PusherEnvironment(scheduler: TestScheduler(), makeWebSocket: { socket })
        (environment.metricsFactory, environment.telemetryNames) = (metrics, .openTelemetry)
        let pusher = Pusher(key: "key", options: PusherClientOptions(delivery: .immediate), environment: environment)
        pusher.subscribe("news")
        pusher.connect()
        socket.publish(channel: "news", event: "n", data: "1")
        let labels = [("messaging.system", "pusher"), ("messaging.operation.name", "receive"), ("channel_kind", "public")]
        #expect(try metrics.expectCounter("messaging.client.consumed.messages", labels).totalValue == 2)
        #expect(try metrics.expectCounter("pusher.connection_attempts").totalValue == 1)
        #expect(try metrics.expectMeter("pusher.channels", [("state", "subscribed")]).lastValue == 1)
        #expect(!metrics.counters.contains { $0.label.hasPrefix("pusher_") })
    }

    @Test func `Received events are counted by kind of channel, and received bytes in total`() throws {
        let client = TracedClient()
        for channel in ["news", "private-a", "presence-b"] { client.pusher.subscribe(channel) }
        client.pusher.connect()
        let before = try client.count("received_bytes_total")
        for _ in 0..<3 { client.socket.publish(channel: "news", event: "n", data: "1") }
        client.socket.publish(channel: "private-a", event: "n", data: "1")
        #expect(try client.count("events_total", [("channel_kind", "public")]) == 4, "its subscription's success among them")
        #expect(try client.count("events_total", [("channel_kind", "private")]) == 2)
        #expect(try client.count("received_bytes_total") - before > 100)
    }

    @Test func `Authorizations are timed by outcome`() throws {
        let client = TracedClient { options, _ in options.authMethod = .endpoint(authEndpoint: "https://example.com/auth") }
        client.session.stub("POST https://example.com/auth", .http(403), .json(["auth": "key:signature"]))
        client.pusher.subscribe("private-a")
        client.pusher.connect()
        client.pusher.subscribe("private-a")
        for outcome in ["success", "failure"] {
            #expect(try client.metrics.expectTimer("pusher_authorization_seconds", [("outcome", outcome)]).values.count == 1)
        }
    }

    @Test func `An authorization that isn't wanted any more is no failure, and one that times out is`() throws {
        let client = TracedClient { options, _ in options.authMethod = .endpoint(authEndpoint: "https://example.com/auth") }
        let gate = Gate()
        client.session.stub("POST https://example.com/auth", StubResponse.json(["auth": "key:s"]).held(by: gate))
        client.pusher.subscribe("private-a")
        client.pusher.connect()
        client.pusher.unsubscribe("private-a")
        let failures = try client.metrics.expectTimer("pusher_authorization_seconds", [("outcome", "failure")])
        #expect(failures.values.isEmpty)
        client.pusher.subscribe("private-a")
        client.scheduler.advance(by: .seconds(15))
        #expect(failures.values == [15_000_000_000], "but one that doesn't come in time is")
        gate.open()
        #expect(failures.values.count == 1)
    }

    @Test func `Pings and reading pauses are timed, and dropped events are counted`() throws {
        let client = TracedClient { options, _ in options.pauseLimit = .seconds(60) }
        let news = client.pusher.subscribe("news")
        client.pusher.connect()
        client.scheduler.advance(by: .seconds(130))
        #expect(try !client.metrics.expectTimer("pusher_ping_seconds").values.isEmpty)
        let stream = news.events(buffering: StreamBuffering(limit: 1, overflow: .pauseThenDrop))
        client.socket.publish(channel: "news", event: "n", data: "1")
        client.scheduler.advance(by: .seconds(60))
        #expect(try client.metrics.expectTimer("pusher_reading_paused_seconds").values == [60_000_000_000])
        for _ in 0..<5 { client.socket.publish(channel: "news", event: "n", data: "1") }
        #expect(try client.count("dropped_events_total") == Int64(stream.dropped))
        #expect(stream.dropped > 0)
    }

    /// A pause ends with its connection, and the next connection is read.
    @Test func `A reading pause ends with its connection`() throws {
        let client = TracedClient()
        let news = client.pusher.subscribe("news")
        client.pusher.connect()
        let stream = news.events(buffering: StreamBuffering(limit: 1, overflow: .pauseThenEnd))
        client.socket.publish(channel: "news", event: "n", data: "1")
        client.scheduler.advance(by: .seconds(1))
        client.pusher.disconnect()
        client.scheduler.advance(by: .seconds(3600))
        withExtendedLifetime(stream) {}
        #expect(try client.metrics.expectTimer("pusher_reading_paused_seconds").values == [1_000_000_000])
    }

    @Test func `A pause isn't cut short by the late close of an earlier connection, which is counted`() throws {
        let client = TracedClient()
        let news = client.pusher.subscribe("news")
        client.pusher.connect()
        client.socket.serverCloses(code: 4200)
        #expect(client.socket.currentAttempt == ConnectionAttempt(2))
        let stream = news.events(buffering: StreamBuffering(limit: 1, overflow: .pauseThenEnd))
        client.socket.publish(channel: "news", event: "n", data: "1")
        client.scheduler.advance(by: .seconds(1))
        client.socket.delegate?.webSocketDidClose(.closed(code: 1006, reason: ""), attempt: ConnectionAttempt(1))
        client.scheduler.advance(by: .seconds(1))
        client.pusher.disconnect()
        withExtendedLifetime(stream) {}
        #expect(try client.metrics.expectTimer("pusher_reading_paused_seconds").values == [2_000_000_000])
        #expect(try client.count("connection_closes_total", [("code", "1006")]) == 1)
    }

    @Test func `Deliveries that wait on a queue are counted and timed`() throws {
        let queue = DispatchQueue(label: "slow")
        let client = TracedClient { options, _ in options.delivery = .queue(queue) }
        client.pusher.subscribe("news").bind(eventName: "n") { _ in }
        client.pusher.connect()
        queue.sync {}
        queue.suspend()
        for _ in 0..<10 { client.socket.publish(channel: "news", event: "n", data: "1") }
        let waiting = try client.metrics.expectMeter("pusher_waiting_deliveries")
        #expect(waiting.lastValue == 10)
        queue.resume()
        queue.sync {}
        #expect(waiting.lastValue == 0)
        #expect(try !client.metrics.expectTimer("pusher_delivery_wait_seconds").values.isEmpty)
    }

    private final class Listener: MainActorPusherDelegate {}

    /// The calls that wait on the main actor don't keep their client.
    @Test @MainActor func `Deliveries on the main actor aren't counted as waiting after the client is released`() throws {
        let listener = Listener()
        var client: TracedClient? = TracedClient()
        client?.pusher.mainActorDelegate = listener
        client?.pusher.connect()
        let waiting = try #require(try client?.metrics.expectMeter("pusher_waiting_deliveries"))
        #expect(waiting.lastValue.map { $0 > 0 } == true)
        client = nil
        #expect(waiting.lastValue == 0)
    }

    @Test func `The number of metrics is bounded, whatever close codes a server sends`() {
        let client = TracedClient { options, _ in options.reconnectPolicy.initialDelay = .zero }
        client.pusher.connect()
        for code in 3000..<5000 {
            client.socket.serverCloses(code: UInt16(code))
            client.scheduler.advance(by: .seconds(200))
            client.pusher.connect()
        }
        #expect(client.metrics.counters.count < 50)
    }
}

extension TracedClient {
    fileprivate func count(_ label: String, _ dimensions: [(String, String)] = []) throws -> Int64 {
        try metrics.expectCounter("pusher_" + label, dimensions).totalValue
    }

    fileprivate func level(_ state: String) throws -> Double {
        try metrics.expectMeter("pusher_connections", [("state", state)]).lastValue ?? 0
    }
}
