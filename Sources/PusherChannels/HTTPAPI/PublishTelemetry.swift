import Logging

#if Metrics
import Metrics
#endif

#if Tracing
import Tracing
#endif

/// Tells the log, the metrics and the tracer of what is published.
struct PublishTelemetry: Sendable {
    let environment: PusherEnvironment
    let logger: Logger

    /// Publishes, and tells of it.
    ///
    /// - Parameters:
    ///   - channel: The channel, if it is one.
    ///   - count: The number of events.
    func publishing<Result>(_ count: Int, to channel: String?, _ publish: () async throws -> Result) async throws -> Result {
        let start = environment.scheduler.now
        do {
            let result = try await traced(count, to: channel, publish)
            ended(count, nil, after: environment.scheduler.now - start)
            logger.debug("published", metadata: metadata(count, channel))
            return result
        } catch {
            ended(count, error, after: environment.scheduler.now - start)
            var metadata = metadata(count, channel)
            metadata["error"] = "\(text(of: error).asMessage)"
            logger.log(level: error is CancellationError ? .debug : .warning, "not published", metadata: metadata)
            throw error
        }
    }

    private func metadata(_ count: Int, _ channel: String?) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["events": "\(count)"]
        metadata["channel"] = channel.map { "\($0.inLogLine())" }
        return metadata
    }

    /// Records the publish. Labels have few values, whatever a server says.
    private func ended(_ count: Int, _ error: (any Error)?, after time: Duration) {
        #if Metrics
        let (names, factory) = (environment.telemetryNames, environment.metricsFactory ?? MetricsSystem.factory)
        let outcome = [("outcome", error == nil ? "success" : "failure")]
        let labels = names.isOpenTelemetry ? error.map { [("error.type", Self.label($0))] } ?? [] : outcome
        let dimensions = names.labels(of: "publish", labels)
        Counter(label: names.metric("published_events_total"), dimensions: dimensions, factory: factory).increment(by: count)
        Timer(label: names.metric("publish_seconds"), dimensions: dimensions, preferredDisplayUnit: .seconds, factory: factory)
            .recordNanoseconds(Int64(min(time / .nanoseconds(1), 9e18)))
        #endif
    }

    #if Metrics || Tracing
    /// A word for an error, of which there are few.
    static func label(_ error: any Error) -> String {
        guard let error = error as? PusherError else { return error is CancellationError ? "cancelled" : "_OTHER" }
        return if case .httpAPI = error.kind, let status = error.code { "\(status)" } else { error.kind.label }
    }
    #endif

    /// Publishes in the context of a span, which is the parent of its requests' spans.
    private func traced<Result>(_ count: Int, to channel: String?, _ publish: () async throws -> Result) async throws -> Result {
        #if Tracing
        func now() -> DefaultTracerClock.Timestamp { environment.timestamp(environment.scheduler.now) }
        let names = environment.telemetryNames
        let span = environment.activeTracer.startSpan(
            names.isOpenTelemetry ? "publish" : "pusher.publish", context: .current ?? .topLevel, ofKind: .producer, at: now())
        span.updateAttributes { attributes in
            if names.isOpenTelemetry {
                attributes["messaging.system"] = "pusher"
                attributes["messaging.operation.name"] = "publish"
                attributes["messaging.operation.type"] = "send"
            }
            if count != 1 { attributes[names.isOpenTelemetry ? "messaging.batch.message_count" : "pusher.events"] = count }
            attributes[names.channel] = channel
        }
        defer { span.end(at: now()) }
        do {
            return try await ServiceContext.withValue(span.context, operation: publish)
        } catch {
            span.attributes["error.type"] = Self.label(error)
            span.setStatus(SpanStatus(code: .error, message: text(of: error).asMessage))
            throw error
        }
        #else
        return try await publish()
        #endif
    }
}
