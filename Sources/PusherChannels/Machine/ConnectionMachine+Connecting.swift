/// The life cycle of the socket: opening, establishing, closing, and the reaction to a close.
extension ConnectionMachine {
    // MARK: The user's calls

    mutating func connect(at now: Instant) {
        if isShutDown {
            return outputs.append(.log(.shutDown))
        }
        switch session.phase {
        case .idle, .shutDown:
            openAnew(at: now)
        case .waiting:
            open(at: now)
        case .closing:
            session.afterClosing(.connect)
        case .opening, .establishing, .connected:
            break
        }
    }

    mutating func disconnect(then next: Session.AfterClosing = .stayDisconnected, at now: Instant) {
        if isShutDown { return }
        switch session.phase {
        case .idle where next == .stayDisconnected:
            break  // The reason of a client that gave up stays known.
        case .idle, .shutDown, .waiting:
            closed(next, at: now)
        case .closing:
            session.afterClosing(next)
        case .opening, .establishing, .connected:
            // Before the phase changes, while the time of the last sign of life is still known.
            let heard = session.receivedUpTo ?? now
            enter(.closing(deadline: now + configuration.timeouts.close, then: next))
            outputs.append(.command(.closeSocket(attempt, code: 1000, reason: "")))
            subscriptionsLost(receivedUpTo: heard)
        }
    }

    /// Shuts the client down for good, connected or not. Later requests to connect are ignored.
    mutating func shutDown(at now: Instant) {
        unsubscribeAllButRead(at: now)
        disconnect(then: .shutDown, at: now)
        signInAbandoned()
    }

    /// Disconnects a client that nothing refers to anymore, and logs it if a connection was still wanted. Optimized code releases
    /// a variable after its last use, not at the end of its scope, so a developer whose last line is `connect()` may wonder why
    /// nothing arrives.
    mutating func clientReleased(at now: Instant) {
        switch session.phase {
        case .idle, .shutDown, .closing(_, .stayDisconnected), .closing(_, .shutDown):
            break
        case .waiting, .opening, .establishing, .connected, .closing(_, .connect):
            outputs.append(.log(.clientReleased))
        }
        disconnect(at: now)
        // Nobody will be there when the connection is closed.
        signInAbandoned()
    }

    /// Makes a scheduled connection attempt at once. Sends a ping on an established connection, which the change may have cut
    /// off.
    mutating func networkChanged(at now: Instant) {
        switch session.phase {
        case .waiting:
            open(at: now)
        case .connected:
            if session.changeHeartbeat({ $0.probe(at: now) }) == true { outputs.append(.command(.send(.ping))) }
        case .idle, .shutDown, .opening, .establishing, .closing:
            break
        }
    }

    /// Opens a connection at the application's request, with nothing carried over from an earlier one.
    private mutating func openAnew(at now: Instant) {
        session.backoff.reset()
        session.isAskedBack = false
        session.servers.beginAnew()
        session.secure = session.servers.isSecure
        open(at: now)
    }

    /// Connects to another server, if a connection is wanted.
    mutating func moved(secure: Bool, at now: Instant) {
        session.servers.replaceFirst(secure: secure)
        switch session.phase {
        case .idle, .shutDown, .closing: break
        case .waiting: openAnew(at: now)
        case .opening, .establishing, .connected: disconnect(then: .connect, at: now)
        }
    }

    private mutating func open(because reason: PusherError? = nil, at now: Instant) {
        session.attempt = attempt.next
        session.lastServerError = nil
        session.chooseServer { $0.willReconnect(at: now) }
        enter(.opening(deadline: now + configuration.timeouts.open), because: reason)
        readForHandshake()
        outputs.append(.command(.openSocket(attempt, secure: session.secure)))
    }

    // MARK: Socket reports

    mutating func socketOpened(_ attempt: ConnectionAttempt, at now: Instant) {
        guard attempt == self.attempt, case .opening = session.phase else { return }
        session.silentUpgrades += 1
        enter(.establishing(deadline: now + configuration.timeouts.establish))
    }

    mutating func established(
        socketID: SocketID, activityTimeout: Duration?, envelope: Envelope, at now: Instant
    ) {
        guard case .establishing = session.phase else {
            outputs.append(.log(.establishedTwice))
            return
        }
        let heartbeat = Heartbeat(
            activityTimeout: min(configuration.activityTimeout, activityTimeout ?? configuration.activityTimeout),
            keepAlive: configuration.keepAlive, pongTimeout: configuration.timeouts.pong, now: now)
        session.lastSocketID = socketID
        session.lastError = nil
        session.isAskedBack = false
        enter(.connected(Session.Established(since: now, heartbeat: heartbeat)))
        outputs.append(.deliver(.event(envelope)))
        unsentEvents.limiter.reset()
        beginSignIn(at: now)
        beginSubscriptions(at: now)
        readAfterHandshake(at: now)
    }

    mutating func socketClosed(
        _ closure: WebSocketClosure, attempt: ConnectionAttempt, at now: Instant
    ) {
        guard attempt == self.attempt else { return }
        if case .failed = closure, case .establishing = session.phase {} else { session.silentUpgrades = 0 }
        switch session.phase {
        case .idle, .shutDown, .waiting:
            break  // The attempt was given up before, so its end needs no report.
        case .closing(_, let then):
            closed(then, at: now)
        case .opening, .establishing, .connected:
            session.noteEnd(closure, at: now)
            let (reaction, reason) = reaction(to: closure)
            connectionEnded(reaction, because: reason, at: now)
        }
    }

    mutating func closed(_ then: Session.AfterClosing, at now: Instant) {
        switch then {
        case .stayDisconnected: enter(.idle)
        case .connect: openAnew(at: now)
        case .shutDown: enter(.shutDown)
        }
    }

    /// Returns the reaction to a closure and the reason for it, and reports the error if it is worth reporting.
    private mutating func reaction(to closure: WebSocketClosure) -> (CloseReaction, PusherError) {
        switch closure {
        case .failed(let failure):
            let error = PusherError(.transport(failure.kind), message: failure.message + likelyCause(of: failure))
            outputs.append(.deliver(.report(error)))
            // An unsupported request would fail in the same way next time.
            return (failure.kind == .unsupported ? .stop : .backOff(atLeast: .zero), error)
        case .closed(let code, let reason):
            let code = CloseCode(code)
            let why = reason.isEmpty ? "" : ": \(reason)\(Self.demand(in: reason))"
            let error = refusal("the server closed the connection\(why)", code: Int(code.rawValue))
            guard session.lastServerError?.code != error.code else { return (code.reaction, session.lastServerError ?? error) }
            if code.deservesReport { outputs.append(.deliver(.report(error))) }
            return (code.reaction, error)
        }
    }

    /// Returns the likely cause of a loss, to put after its message; an empty text if there is none. Nothing came after the last
    /// two upgrades: Sockudo refuses a key in this way. Several connections ended after the same silence: proxies do that.
    private func likelyCause(of failure: TransportError) -> String {
        guard failure.kind == .connectionLost else { return "" }
        if case .establishing = session.phase, session.silentUpgrades > 1 {
            return
                ", as was the one before, and neither had a message: check the key, and that its app is enabled (Sockudo refuses so)"
        }
        guard let silence = session.repeatedSilence else { return "" }
        return
            ", \(silence.components.seconds) s after the last message, three times running: is it the idle time-out of a proxy? Set keepAlive to less"
    }

    /// Returns what the application is to do if soketi says that it didn't do it in time; an empty text for other messages.
    static func demand(in message: String) -> String {
        guard message.begins(with: "Connection not authorized within timeout") else { return "" }
        return "; the app wants its clients to sign in, or to subscribe to a private or presence channel, soon after they connect"
    }

    /// Returns the error for a server's message, with advice on its code.
    func refusal(_ text: String, code: Int?) -> PusherError {
        let advice = code.flatMap(UInt16.init(exactly:)).flatMap { CloseCode($0).advice }
        return PusherError(.server, code: code, message: text + (advice.map { "; \($0)" } ?? ""))
    }

    // MARK: Transitions

    /// Handles the end of a connection or an attempt that the user didn't ask to end.
    mutating func connectionEnded(
        _ reaction: CloseReaction, because reason: PusherError, at now: Instant
    ) {
        if case .connected(let established) = session.phase {
            session.backoff.connectionEnded(after: now - established.since)
        } else if reaction != .upgradeToTLS {
            session.chooseServer { $0.attemptFailed(at: now) }
        }
        subscriptionsLost(receivedUpTo: session.receivedUpTo ?? now)
        session.lastError = reason
        if reason.kind == .server, let code = reason.code, CloseCode.asksBack.contains(code) { session.isAskedBack = true }
        guard configuration.autoReconnect || session.isAskedBack else {
            enter(.idle, because: reason)
            return
        }
        switch reaction {
        case .stop:
            enter(.idle, because: reason)
        case .upgradeToTLS where configuration.upgradesToTLS && !session.secure:
            session.secure = true
            open(because: reason, at: now)
        case .upgradeToTLS:
            enter(.idle, because: reason)
        case .reconnectAtOnce where session.backoff.allowsImmediateReturn(at: now):
            open(because: reason, at: now)
        case .reconnectAtOnce:
            wait(atLeast: .zero, because: reason, at: now)
        case .backOff(let minimum):
            wait(atLeast: minimum, because: reason, at: now)
        }
    }

    private mutating func wait(
        atLeast minimum: Duration, because reason: PusherError, at now: Instant
    ) {
        guard let delay = session.backoff.nextDelay(atLeast: minimum) else {
            let retries = session.backoff.failures == 1 ? "1 retry" : "\(session.backoff.failures) retries"
            let message = "gave up after \(retries): \(reason.message); call connect() to try again"
            let error = PusherError(.attemptsExhausted, message: message, isRetryable: reason.isRetryable)
            enter(.idle, because: error)
            outputs.append(.deliver(.report(error)))
            return
        }
        enter(.waiting(until: now + delay), because: reason)
    }
}
