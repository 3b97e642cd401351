/// An operation of a client that has a span.
enum TracedOperation: Hashable, Sendable {
    case connecting(ConnectionAttempt, secure: Bool)
    case subscribing(Name)
    case authorizing(AuthorizationID)
}

#if Tracing
import Tracing

/// The starts and ends of a client's spans. They are noted under the client's lock, and reported to the tracer outside of it, in
/// order.
struct SpanNotes: Sendable {
    enum Note: Sendable {
        case begin(TracedOperation, in: ServiceContext?, at: Instant)
        case end(TracedOperation, PusherError?, at: Instant)
    }

    /// The spans that the tracer has started, until they end.
    var spans: [TracedOperation: any Span] = [:]
    private var notes: [Note] = []
    private var underWay: Set<TracedOperation> = []
    /// The attempt that was current after the application's latest `connect()`, and the context of that call.
    private var caller: (attempt: ConnectionAttempt, context: ServiceContext?)?
    /// The latest error of the current connection attempt.
    private var problem: PusherError?

    /// - Parameter subscriptions: The channels after the input was handled.
    mutating func note(
        _ input: Input, attempt: ConnectionAttempt, subscriptions: Subscriptions, at now: Instant
    ) {
        switch input {
        case .connect: caller = (attempt, ServiceContext.current)
        case .subscribe(let channel, _, _, _):
            guard subscriptions[channel]?.isSubscribed == false else { return }
            begin(.subscribing(channel), in: ServiceContext.current, at: now)
        case .unsubscribe(let channel): end(.subscribing(channel), .unsubscribed(channel), at: now)
        case .socketClosed(let closure, _): problem = PusherError(closure)
        default: break
        }
    }

    mutating func note(_ output: Output, subscriptions: Subscriptions, at now: Instant) {
        switch output {
        case .command(.openSocket(let attempt, let secure)):
            // One attempt may follow another without another state in between.
            endConnecting(problem ?? .clientDisconnected, at: now)
            problem = nil
            let isAskedFor = caller?.attempt == attempt
            begin(.connecting(attempt, secure: secure), in: isAskedFor ? caller?.context : nil, at: now)
        case .command(.authorize(let attempt, _)) where subscriptions[attempt.channel]?.isSubscribed == false:
            begin(.subscribing(attempt.channel), in: nil, at: now)
        case .command(.send(.subscribe(let channel, _, _, _))): begin(.subscribing(Name(channel)), in: nil, at: now)
        case .deliver(let delivery): note(delivery, at: now)
        default: break
        }
    }

    private mutating func note(_ delivery: Delivery, at now: Instant) {
        switch delivery {
        case .subscribed(let channel, _): end(.subscribing(channel), nil, at: now)
        case .subscriptionFailed(let channel, let failure): end(.subscribing(channel), failure.error, at: now)
        case .serverError(let error), .report(let error): problem = error
        case .stateChanged(let old, let new, let reason):
            if old == .connecting {
                // That there won't be another attempt isn't the reason why this one failed.
                let failure = reason?.kind == .attemptsExhausted ? problem ?? reason : reason
                endConnecting(new == .connected ? nil : failure ?? .clientDisconnected, at: now)
            }
            if old == .connected || new == .disconnecting || new == .disconnected {
                endAll(reason ?? .clientDisconnected, at: now)
            }
        default: break
        }
    }

    /// Starts a span, unless there is one that started earlier and covers more.
    private mutating func begin(_ operation: TracedOperation, in context: ServiceContext?, at now: Instant) {
        guard underWay.insert(operation).inserted else { return }
        notes.append(.begin(operation, in: context, at: now))
    }

    private mutating func end(_ operation: TracedOperation, _ failure: PusherError?, at now: Instant) {
        guard underWay.remove(operation) != nil else { return }
        notes.append(.end(operation, failure, at: now))
    }

    private mutating func endConnecting(_ failure: PusherError?, at now: Instant) {
        for case .connecting(let attempt, let secure) in underWay {
            end(.connecting(attempt, secure: secure), failure, at: now)
        }
    }

    private mutating func endAll(_ failure: PusherError, at now: Instant) {
        for operation in underWay { end(operation, failure, at: now) }
    }

    var isEmpty: Bool { notes.isEmpty }

    /// Returns the notes, and starts over.
    mutating func take() -> [Note] {
        defer { notes = [] }
        return notes
    }
}

extension PusherError {
    /// Creates the error of a connection attempt whose socket was closed.
    fileprivate init(_ closure: WebSocketClosure) {
        switch closure {
        case .failed(let failure):
            self.init(.transport(failure.kind), message: failure.message)
        case .closed(let code, _):
            self.init(.server, code: Int(code), message: "the server closed the connection")
        }
    }
}
#else
/// The starts and ends of a client's spans. There are none without the trait `Tracing`.
struct SpanNotes: Sendable {
    enum Note: Sendable {}

    var isEmpty: Bool { true }

    func note(
        _ input: Input, attempt: ConnectionAttempt, subscriptions: Subscriptions, at now: Instant
    ) {}
    func note(_ output: Output, subscriptions: Subscriptions, at now: Instant) {}
    func take() -> [Note] { [] }
}
#endif
