/// The life cycle of the socket: opening, establishing, closing, and the reaction to a close.
extension ConnectionMachine {
    // MARK: The user's calls

    mutating func connect(at now: Instant, into effects: inout [Effect]) {
        if isShutDown {
            return effects.append(.log(.shutDown))
        }
        switch phase {
        case .idle, .shutDown:
            openAnew(at: now, into: &effects)
        case .waiting:
            open(at: now, into: &effects)
        case .closing(let deadline, _):
            phase = .closing(deadline: deadline, then: .connect)
        case .opening, .establishing, .connected:
            break
        }
    }

    mutating func disconnect(then next: AfterClosing = .stayDisconnected, at now: Instant, into effects: inout [Effect]) {
        if isShutDown { return }
        switch phase {
        case .idle where next == .stayDisconnected:
            break  // The reason of a client that gave up stays known.
        case .idle, .shutDown, .waiting:
            closed(next, at: now, into: &effects)
        case .closing(let deadline, _):
            phase = .closing(deadline: deadline, then: next)
        case .opening, .establishing, .connected:
            // Before the phase changes, while the time of the last sign of life is still known.
            var lost: [Effect] = []
            subscriptionsLost(at: now, into: &lost)
            enter(.closing(deadline: now + configuration.timeouts.close, then: next), into: &effects)
            effects.append(.closeSocket(attempt, code: 1000, reason: ""))
            effects += lost
        }
    }

    /// Shuts the client down for good, connected or not. Later requests to connect are ignored.
    mutating func shutDown(at now: Instant, into effects: inout [Effect]) {
        unsubscribeAllButRead(at: now, into: &effects)
        disconnect(then: .shutDown, at: now, into: &effects)
        signInAbandoned(into: &effects)
    }

    /// Disconnects a client that nothing refers to anymore, and logs it if a connection was still wanted. Optimized code releases
    /// a variable after its last use, not at the end of its scope, so a developer whose last line is `connect()` may wonder why
    /// nothing arrives.
    mutating func letGo(at now: Instant, into effects: inout [Effect]) {
        switch phase {
        case .idle, .shutDown, .closing(_, .stayDisconnected), .closing(_, .shutDown):
            break
        case .waiting, .opening, .establishing, .connected, .closing(_, .connect):
            effects.append(.log(.letGo))
        }
        disconnect(at: now, into: &effects)
        // Nobody will be there when the connection is closed.
        signInAbandoned(into: &effects)
    }

    /// Makes a scheduled connection attempt at once. Sends a ping on an established connection, which the change may have cut
    /// off.
    mutating func networkChanged(at now: Instant, into effects: inout [Effect]) {
        switch phase {
        case .waiting:
            open(at: now, into: &effects)
        case .connected(var session):
            if session.heartbeat.probe(at: now) { effects.append(.send(.ping)) }
            phase = .connected(session)
        case .idle, .shutDown, .opening, .establishing, .closing:
            break
        }
    }

    /// Opens a connection at the application's request, with nothing carried over from an earlier one.
    private mutating func openAnew(at now: Instant, into effects: inout [Effect]) {
        backoff.reset()
        isAskedBack = false
        secure = configuration.secure
        open(at: now, into: &effects)
    }

    private mutating func open(because reason: PusherError? = nil, at now: Instant, into effects: inout [Effect]) {
        attempt = attempt.next
        lastServerError = nil
        enter(.opening(deadline: now + configuration.timeouts.open), because: reason, into: &effects)
        readForHandshake(into: &effects)
        effects.append(.openSocket(attempt, secure: secure))
    }

    // MARK: Socket reports

    mutating func socketOpened(_ attempt: ConnectionAttempt, at now: Instant, into effects: inout [Effect]) {
        guard attempt == self.attempt, case .opening = phase else { return }
        silentUpgrades += 1
        enter(.establishing(deadline: now + configuration.timeouts.establish), into: &effects)
    }

    mutating func established(
        socketID: SocketID, activityTimeout: Duration?, envelope: Envelope, at now: Instant, into effects: inout [Effect]
    ) {
        guard case .establishing = phase else {
            effects.append(.log(.establishedTwice))
            return
        }
        let heartbeat = Heartbeat(
            activityTimeout: min(configuration.activityTimeout, activityTimeout ?? configuration.activityTimeout),
            pongTimeout: configuration.timeouts.pong, now: now)
        lastSocketID = socketID
        lastConnectionError = nil
        isAskedBack = false
        enter(.connected(Session(since: now, heartbeat: heartbeat)), into: &effects)
        effects.append(.deliver(.event(envelope)))
        clientEventLimiter.reset()
        beginSignIn(at: now, into: &effects)
        beginSubscriptions(at: now, into: &effects)
        readAfterHandshake(at: now, into: &effects)
    }

    mutating func socketClosed(
        _ closure: WebSocketClosure, attempt: ConnectionAttempt, at now: Instant, into effects: inout [Effect]
    ) {
        guard attempt == self.attempt else { return }
        if case .failed = closure, case .establishing = phase {} else { silentUpgrades = 0 }
        switch phase {
        case .idle, .shutDown, .waiting:
            break  // The attempt was given up before, so its end needs no report.
        case .closing(_, let then):
            closed(then, at: now, into: &effects)
        case .opening, .establishing, .connected:
            let (reaction, reason) = reaction(to: closure, into: &effects)
            connectionEnded(reaction, because: reason, at: now, into: &effects)
        }
    }

    mutating func closed(_ then: AfterClosing, at now: Instant, into effects: inout [Effect]) {
        switch then {
        case .stayDisconnected: enter(.idle, into: &effects)
        case .connect: openAnew(at: now, into: &effects)
        case .shutDown: enter(.shutDown, into: &effects)
        }
    }

    /// Returns the reaction to a closure and the reason for it, and reports the error if it is worth reporting.
    private func reaction(to closure: WebSocketClosure, into effects: inout [Effect]) -> (CloseReaction, PusherError) {
        switch closure {
        case .failed(let failure):
            if failure.kind == .connectionLost, let explanation = explanationOfPlainClose { return explanation }
            let error = PusherError(.transport(failure.kind), message: failure.message + likelyCause(of: failure))
            effects.append(.deliver(.error(error)))
            // An unsupported request would fail in the same way next time.
            return (failure.kind == .unsupported ? .stop : .backOff(atLeast: .zero), error)
        case .closed(let code, let reason):
            let code = CloseCode(code)
            if code.isUninformative, let explanation = explanationOfPlainClose { return explanation }
            let why = reason.isEmpty ? "" : ": \(reason)"
            let error = refusal("the server closed the connection\(why)", code: Int(code.rawValue))
            guard lastServerError?.code != error.code else { return (code.reaction, lastServerError ?? error) }
            if code.deservesReport { effects.append(.deliver(.error(error))) }
            return (code.reaction, error)
        }
    }

    /// Returns the likely cause of a loss, to put after its message, if nothing came after the last two upgrades; otherwise an
    /// empty text. Sockudo refuses a key in this way.
    private func likelyCause(of failure: WebSocketFailure) -> String {
        guard case .establishing = phase, failure.kind == .connectionLost, silentUpgrades > 1 else { return "" }
        return
            ", as was the one before, and neither had a message: check the key, and that its app is enabled (Sockudo refuses so)"
    }

    /// Returns the error for a server's message, with advice on its code.
    func refusal(_ text: String, code: Int?) -> PusherError {
        let advice = code.flatMap(UInt16.init(exactly:)).flatMap { CloseCode($0).advice }
        return PusherError(.server, code: code, message: text + (advice.map { "; \($0)" } ?? ""))
    }

    /// The reaction and error for a plain close if an earlier error explains it.
    ///
    /// Some servers report the problem in a `pusher:error` and then close without a code, or leave the close to the client.
    /// Before the connection is established, such an error is taken as the reason for the close. Afterwards it may have been
    /// about anything.
    var explanationOfPlainClose: (CloseReaction, PusherError)? {
        guard case .establishing = phase, let error = lastServerError, let code = error.code, (4000...4099).contains(code)
        else { return nil }
        return (CloseCode(UInt16(code)).reaction, error)
    }

    // MARK: Transitions

    /// Handles the end of a connection or an attempt that the user didn't ask to end.
    mutating func connectionEnded(
        _ reaction: CloseReaction, because reason: PusherError, at now: Instant, into effects: inout [Effect]
    ) {
        if case .connected(let session) = phase { backoff.connectionEnded(after: now - session.since) }
        subscriptionsLost(at: now, into: &effects)
        lastConnectionError = reason
        if reason.kind == .server, let code = reason.code, CloseCode.asksBack.contains(code) { isAskedBack = true }
        guard configuration.autoReconnect || isAskedBack else {
            enter(.idle, because: reason, into: &effects)
            return
        }
        switch reaction {
        case .stop:
            enter(.idle, because: reason, into: &effects)
        case .upgradeToTLS where configuration.upgradesToTLS && !secure:
            secure = true
            open(because: reason, at: now, into: &effects)
        case .upgradeToTLS:
            enter(.idle, because: reason, into: &effects)
        case .reconnectAtOnce where backoff.allowsImmediateReturn(at: now):
            open(because: reason, at: now, into: &effects)
        case .reconnectAtOnce:
            wait(atLeast: .zero, because: reason, at: now, into: &effects)
        case .backOff(let minimum):
            wait(atLeast: minimum, because: reason, at: now, into: &effects)
        }
    }

    private mutating func wait(
        atLeast minimum: Duration, because reason: PusherError, at now: Instant, into effects: inout [Effect]
    ) {
        guard let delay = backoff.nextDelay(atLeast: minimum) else {
            let retries = backoff.failures == 1 ? "1 retry" : "\(backoff.failures) retries"
            let message = "gave up after \(retries): \(reason.message); call connect() to try again"
            let error = PusherError(.attemptsExhausted, message: message, isRetryable: reason.isRetryable)
            enter(.idle, because: error, into: &effects)
            effects.append(.deliver(.error(error)))
            return
        }
        enter(.waiting(until: now + delay), because: reason, into: &effects)
    }
}
