#if Metrics
import Metrics

/// The application's metrics of its clients, with the names that the page "In a service" lists. All clients share the same
/// metrics, so none is ever set: they go up and down.
struct ClientMetrics: Sendable {
    private let factory: any MetricsFactory
    private let names: TelemetryNames
    private let events: [ChannelName.Kind: Counter]
    private let connectionEvents: Counter
    private let connections: [ConnectionState: Meter]
    private let channels: [String: Meter]
    private let attempts: Counter
    private let bytes: Counter
    private let dropped: Counter
    private let waiting: Meter
    private let wait: Timer
    private let decryptionFailures: Counter
    private let ping: Timer
    private let paused: Timer
    private let authorized: Timer
    private let refused: Timer
    private let loaded: Timer
    private let notLoaded: Timer

    /// - Parameter factory: The factory that makes the metrics; nil for the one that the application bootstrapped.
    init(_ factory: (any MetricsFactory)?, _ names: TelemetryNames) {
        let factory = factory ?? MetricsSystem.factory
        (self.factory, self.names) = (factory, names)
        func counter(_ label: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: names.metric(label), dimensions: dimensions, factory: factory)
        }
        func timer(_ label: String, _ dimensions: [(String, String)] = []) -> Timer {
            Timer(label: names.metric(label), dimensions: dimensions, preferredDisplayUnit: .seconds, factory: factory)
        }
        func meter(_ label: String, _ dimensions: [(String, String)] = []) -> Meter {
            Meter(label: names.metric(label), dimensions: dimensions, factory: factory)
        }
        let kinds: [ChannelName.Kind] = [.public, .private, .presence, .encrypted]
        events = Dictionary(
            uniqueKeysWithValues: kinds.map {
                ($0, counter("events_total", names.labels(of: "receive", [("channel_kind", "\($0)")])))
            })
        connectionEvents = counter("events_total", names.labels(of: "receive", [("channel_kind", "none")]))
        let states: [ConnectionState] = [.connecting, .connected, .reconnecting, .disconnecting]
        connections = Dictionary(uniqueKeysWithValues: states.map { ($0, meter("connections", [("state", "\($0)")])) })
        let places = ["subscribed", "pending", "failed"]
        channels = Dictionary(uniqueKeysWithValues: places.map { ($0, meter("channels", [("state", $0)])) })
        attempts = counter("connection_attempts_total")
        bytes = counter("received_bytes_total")
        dropped = counter("dropped_events_total")
        waiting = meter("waiting_deliveries")
        wait = timer("delivery_wait_seconds")
        decryptionFailures = counter("decryption_failures_total")
        ping = timer("ping_seconds")
        paused = timer("reading_paused_seconds")
        authorized = timer("authorization_seconds", [("outcome", "success")])
        refused = timer("authorization_seconds", [("outcome", "failure")])
        loaded = timer("load_seconds", [("outcome", "success")])
        notLoaded = timer("load_seconds", [("outcome", "failure")])
    }

    /// Adds the counts to the metrics.
    func add(_ tally: MetricsTally) {
        for (kind, count) in tally.events { events[kind]?.increment(by: count) }
        add(tally.connectionEvents, to: connectionEvents)
        for (state, difference) in tally.states { connections[state].map { change($0, by: difference) } }
        let counts = tally.channels
        for (state, difference) in [("subscribed", counts.subscribed), ("pending", counts.pending), ("failed", counts.failed)] {
            channels[state].map { change($0, by: difference) }
        }
        for (label, count) in tally.closes {
            Counter(label: names.metric("connection_closes_total"), dimensions: [("code", label.text)], factory: factory)
                .increment(
                    by: count)
        }
        add(tally.attempts, to: attempts)
        add(tally.bytes, to: bytes)
        add(tally.dropped, to: dropped)
        add(tally.decryptionFailures, to: decryptionFailures)
        change(waiting, by: tally.waiting)
        for time in tally.pings { record(time, in: ping) }
        if tally.paused > .zero { record(tally.paused, in: paused) }
    }

    /// Records the time that deliveries waited on the application's queue.
    func delivered(after time: @autoclosure () -> Duration) {
        record(time(), in: wait)
    }

    /// Records the time that an authorization took.
    func authorized(_ isSuccess: Bool, after time: @autoclosure () -> Duration) {
        record(time(), in: isSuccess ? authorized : refused)
    }

    /// Records the time that loading a followed channel's state took.
    func loaded(_ isSuccess: Bool, after time: @autoclosure () -> Duration) {
        record(time(), in: isSuccess ? loaded : notLoaded)
    }

    private func add(_ count: Int, to counter: Counter) {
        if count > 0 { counter.increment(by: count) }
    }

    /// Changes a meter. Backends accept only amounts above zero.
    private func change(_ meter: Meter, by difference: Int) {
        if difference > 0 { meter.increment(by: Double(difference)) }
        if difference < 0 { meter.decrement(by: Double(-difference)) }
    }

    private func record(_ time: Duration, in timer: Timer) {
        timer.recordNanoseconds(time / .nanoseconds(1) < 9e18 ? Int64(time / .nanoseconds(1)) : .max)
    }
}
#else
/// The application's metrics. There are none without the trait `Metrics`.
struct ClientMetrics: Sendable {
    func add(_ tally: MetricsTally) {}
    func delivered(after time: @autoclosure () -> Duration) {}
    func authorized(_ isSuccess: Bool, after time: @autoclosure () -> Duration) {}
    func loaded(_ isSuccess: Bool, after time: @autoclosure () -> Duration) {}
}
#endif

extension PusherEnvironment {
    /// The metrics of a client.
    var clientMetrics: ClientMetrics {
        #if Metrics
        ClientMetrics(metricsFactory, telemetryNames)
        #else
        ClientMetrics()
        #endif
    }
}
