/// The life of the socket: opened, established, closed, and what follows a close.
extension ConnectionMachine {
    // MARK: What the user wants

    mutating func connect(at now: MonotonicTime, into effects: inout [Effect]) {
        switch phase {
        case .idle:
            backoff.reset()
            secure = configuration.secure
            open(at: now, into: &effects)
        case .waiting:
            open(at: now, into: &effects)
        case .closing(let deadline, _):
            phase = .closing(deadline: deadline, then: .connect)
        case .opening, .establishing, .connected:
            break
        }
    }

    mutating func disconnect(at now: MonotonicTime, into effects: inout [Effect]) {
        switch phase {
        case .idle:
            break
        case .waiting:
            enter(.idle, into: &effects)
        case .closing(let deadline, _):
            phase = .closing(deadline: deadline, then: .stayDisconnected)
        case .opening, .establishing, .connected:
            enter(.closing(deadline: now + configuration.closeTimeout, then: .stayDisconnected), into: &effects)
            effects.append(.closeSocket(attempt, code: 1000, reason: ""))
            subscriptionsLost(into: &effects)
        }
    }

    private mutating func open(at now: MonotonicTime, into effects: inout [Effect]) {
        attempt = attempt.next
        lastServerError = nil
        enter(.opening(deadline: now + configuration.openTimeout), into: &effects)
        effects.append(.openSocket(attempt, secure: secure))
    }

    // MARK: What the socket reports

    mutating func socketOpened(_ attempt: ConnectionAttempt, at now: MonotonicTime, into effects: inout [Effect]) {
        guard attempt == self.attempt, case .opening = phase else { return }
        enter(.establishing(deadline: now + configuration.establishTimeout), into: &effects)
    }

    mutating func established(
        socketID: String, activityTimeout: Duration?, envelope: Envelope, at now: MonotonicTime, into effects: inout [Effect]
    ) {
        guard case .establishing = phase else {
            effects.append(.log(.warning, "the server established the connection twice; the second time is ignored"))
            return
        }
        let heartbeat = Heartbeat(
            activityTimeout: min(configuration.activityTimeout, activityTimeout ?? configuration.activityTimeout),
            pongTimeout: configuration.pongTimeout, now: now)
        enter(.connected(Session(socketID: socketID, since: now, heartbeat: heartbeat)), into: &effects)
        effects.append(.deliver(.event(envelope)))
        clientEventLimiter.reset()
        beginSignIn(at: now, into: &effects)
        beginSubscriptions(at: now, into: &effects)
    }

    mutating func socketClosed(
        _ closure: WebSocketClosure, attempt: ConnectionAttempt, at now: MonotonicTime, into effects: inout [Effect]
    ) {
        guard attempt == self.attempt else { return }
        switch phase {
        case .idle, .waiting:
            break  // The attempt was given up before; its end is no news.
        case .closing(_, let then):
            closed(then, at: now, into: &effects)
        case .opening, .establishing, .connected:
            connectionEnded(reaction(to: closure, into: &effects), at: now, into: &effects)
        }
    }

    mutating func closed(_ then: AfterClosing, at now: MonotonicTime, into effects: inout [Effect]) {
        enter(.idle, into: &effects)
        if then == .connect { connect(at: now, into: &effects) }
    }

    /// Reports what is worth it and tells what to do.
    private func reaction(to closure: WebSocketClosure, into effects: inout [Effect]) -> CloseReaction {
        switch closure {
        case .failed(let failure):
            if failure.kind == .connectionLost, let explanation = explanationOfPlainClose { return explanation.reaction }
            effects.append(.deliver(.error(PusherError(.transport(failure.kind), message: failure.message))))
            return .backOff(atLeast: .zero)
        case .closed(let code, let reason):
            let code = CloseCode(code)
            if code.isUninformative, let explanation = explanationOfPlainClose { return explanation.reaction }
            if code.deservesReport, lastServerError?.code != Int(code.rawValue) {
                let why = reason.isEmpty ? "" : ": \(reason)"
                let message = "the server closed the connection with code \(code.rawValue)\(why)"
                effects.append(.deliver(.error(PusherError(.server, code: Int(code.rawValue), message: message))))
            }
            return code.reaction
        }
    }

    /// Some servers say what is wrong in a `pusher:error` and then close without a code. Before the connection is established
    /// such an error is taken for the close's; afterwards it may have been about anything.
    private var explanationOfPlainClose: CloseCode? {
        guard case .establishing = phase, let code = lastServerError?.code, (4000...4099).contains(code) else { return nil }
        return CloseCode(UInt16(code))
    }

    // MARK: What follows

    /// The connection, or the attempt at it, is over without the user having asked for it.
    mutating func connectionEnded(_ reaction: CloseReaction, at now: MonotonicTime, into effects: inout [Effect]) {
        if case .connected(let session) = phase { backoff.connectionEnded(after: now - session.since) }
        subscriptionsLost(into: &effects)
        guard configuration.autoReconnect else {
            enter(.idle, into: &effects)
            return
        }
        switch reaction {
        case .stop:
            enter(.idle, into: &effects)
        case .upgradeToTLS:
            upgradeToTLS(at: now, into: &effects)
        case .reconnectAtOnce where backoff.allowsImmediateReturn(at: now):
            open(at: now, into: &effects)
        case .reconnectAtOnce:
            wait(atLeast: .zero, at: now, into: &effects)
        case .backOff(let minimum):
            wait(atLeast: minimum, at: now, into: &effects)
        }
    }

    private mutating func upgradeToTLS(at now: MonotonicTime, into effects: inout [Effect]) {
        if configuration.upgradesToTLS, !secure {
            secure = true
            open(at: now, into: &effects)
        } else {
            enter(.idle, into: &effects)
        }
    }

    private mutating func wait(atLeast minimum: Duration, at now: MonotonicTime, into effects: inout [Effect]) {
        guard let delay = backoff.nextDelay(atLeast: minimum) else {
            enter(.idle, into: &effects)
            let message = "gave up after \(backoff.failures) failed connection attempts; call connect() to try again"
            effects.append(.deliver(.error(PusherError(.attemptsExhausted, message: message))))
            return
        }
        enter(.waiting(until: now + delay), into: &effects)
    }
}
