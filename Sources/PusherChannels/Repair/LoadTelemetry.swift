#if Tracing
import Tracing
#endif

/// Tells the log, the metrics and the tracer of loads, as those of the client that has the channel.
struct LoadTelemetry: Sendable {
    let environment: PusherEnvironment
    /// Returns the client that has a channel.
    let client: @Sendable (Name) -> ClientCore?

    /// - Parameter failure: The reason why there is no state, if there is none.
    func ended(_ channel: Name, _ failure: (any Error)?, after time: Duration) {
        guard let client = client(channel) else { return }
        client.telemetry.metrics.loaded(failure == nil, after: time)
        client.log(failure.map { .notLoaded(channel, problem: text(of: $0)) } ?? .loaded(channel, time))
    }

    /// Runs a loader in the context of a span for it.
    func traced<State>(_ channel: Name, _ load: () async throws -> State) async throws -> State {
        #if Tracing
        func now() -> DefaultTracerClock.Timestamp { environment.timestamp(environment.scheduler.now) }
        // Without a parent: what begins a load may be another load, or another loop's call.
        let span = environment.activeTracer.startSpan("pusher.load", context: .topLevel, ofKind: .internal, at: now())
        span.attributes[environment.telemetryNames.channel] = channel.text
        defer { span.end(at: now()) }
        do {
            return try await ServiceContext.withValue(span.context, operation: load)
        } catch {
            // The error itself isn't recorded: Foundation's hold the whole address.
            span.attributes["error.type"] = PublishTelemetry.label(error)
            span.setStatus(SpanStatus(code: .error, message: text(of: error).asMessage))
            throw error
        }
        #else
        return try await load()
        #endif
    }
}
