import Logging

/// What is noted under the lock for the log, the metrics and the spans.
struct TelemetryNotes: Sendable {
    var logLimiter = LogLimiter()
    var tally = MetricsTally()
    var spans = SpanNotes()

    mutating func note(_ output: Output, _ subscriptions: Subscriptions, at now: Instant) {
        tally.note(output, subscriptions: subscriptions, at: now)
        spans.note(output, subscriptions: subscriptions, at: now)
    }
}

/// Where a client's log lines and metrics go.
struct Telemetry: Sendable {
    let logger: Logger
    /// Indicates whether each message is logged. This requires a logger with the level `trace`, as the lines cost more than the
    /// messages.
    let logsMessages: Bool
    let metrics: ClientMetrics

    init(logger: Logger, metrics: ClientMetrics) {
        self.logger = logger
        logsMessages = logger.logLevel <= .trace
        self.metrics = metrics
    }
}
