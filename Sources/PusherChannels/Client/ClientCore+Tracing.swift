#if Tracing
import Tracing

/// A client's spans, with the names that the page "In a service" lists. The tracer belongs to the application, so all of this
/// runs outside the lock.
extension ClientCore {
    /// Starts and ends spans as they were noted. Called by the draining thread, so no span ends before it starts.
    func tell(_ notes: [SpanNotes.Note]) {
        for note in notes {
            switch note {
            case .begin(let operation, let context, let time): begin(operation, in: context, at: time)
            case .end(let operation, let failure, let time): end(operation, failure, at: time)
            }
        }
    }

    /// Requests an authorization in the context of a span for it, which is the parent for requests and for the application's
    /// code.
    func withSpan<Result>(of authorization: AuthorizationID, _ ask: () -> Result) -> Result {
        var parent: ServiceContext?
        if case .channel(let attempt) = authorization {
            parent = readState { $0.telemetry.spans.spans[.subscribing(attempt.channel)]?.context }
        }
        let context = begin(.authorizing(authorization), in: parent, at: environment.scheduler.now)
        return ServiceContext.withValue(context, operation: ask)
    }

    /// Ends the span, unless it has ended: a response may come twice, and late.
    func endSpan(of authorization: AuthorizationID, _ failure: PusherError?) {
        end(.authorizing(authorization), failure, at: environment.scheduler.now)
    }

    /// Ends all spans, as nobody is left to hear the outcome.
    func endAllSpans() {
        let now = environment.scheduler.now
        for operation in readState({ $0.telemetry.spans.spans.keys }) { end(operation, .clientDisconnected, at: now) }
    }

    @discardableResult
    private func begin(_ operation: TracedOperation, in context: ServiceContext?, at time: Instant) -> ServiceContext {
        let span = environment.activeTracer.startSpan(
            operation.spanName, context: context ?? .topLevel, ofKind: operation.spanKind, at: environment.timestamp(time))
        span.updateAttributes { describe(operation, in: &$0) }
        withState { $0.telemetry.spans.spans[operation] = span }
        return span.context
    }

    private func end(_ operation: TracedOperation, _ failure: PusherError?, at time: Instant) {
        guard let span = withState({ $0.telemetry.spans.spans.removeValue(forKey: operation) }) else { return }
        let time = environment.timestamp(time)
        if let failure {
            span.updateAttributes { attributes in
                attributes["error.type"] = failure.kind.label
                attributes["pusher.code"] = failure.code
            }
            span.recordError(failure, attributes: [:], at: time)
            span.setStatus(SpanStatus(code: .error, message: failure.message))
        } else if case .connecting = operation, let socketID = read(\.session.lastSocketID) {
            span.attributes["pusher.socket_id"] = socketID.text
        }
        span.end(at: time)
    }

    private func describe(_ operation: TracedOperation, in attributes: inout SpanAttributes) {
        switch operation {
        case .connecting(let attempt, let secure):
            let request = request(secure: secure)
            attributes["server.address"] = request?.host.hostWithoutSecrets
            attributes["server.port"] = request?.port
            attributes["network.protocol.name"] = "websocket"
            attributes["pusher.attempt"] = attempt.number
        case .subscribing(let channel):
            attributes[environment.telemetryNames.channel] = channel.text
        case .authorizing(.channel(let attempt)):
            attributes[environment.telemetryNames.channel] = attempt.channel.text
        case .authorizing(.user):
            break
        }
    }
}

extension TracedOperation {
    fileprivate var spanName: String {
        switch self {
        case .connecting: "pusher.connect"
        case .subscribing: "pusher.subscribe"
        case .authorizing: "pusher.authorize"
        }
    }

    fileprivate var spanKind: SpanKind {
        switch self {
        case .connecting, .subscribing: .client
        case .authorizing: .internal
        }
    }
}
#else
/// Spans. There are none without the trait `Tracing`.
extension ClientCore {
    func tell(_ notes: [SpanNotes.Note]) {}
    func withSpan<Result>(of authorization: AuthorizationID, _ ask: () -> Result) -> Result { ask() }
    func endSpan(of authorization: AuthorizationID, _ failure: PusherError?) {}
    func endAllSpans() {}
}
#endif
