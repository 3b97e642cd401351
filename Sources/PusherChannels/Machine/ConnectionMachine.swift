/// The whole behavior of a connection as a value: inputs and times in, outputs and the next deadline out.
///
/// ### Overview
/// The machine knows what the user wants (a connection or none, which channels) and works toward it. It has no clock, does no
/// I/O, takes no locks, and draws randomness from a seeded generator, so a test can replay any history as a list of inputs.
///
/// ### Parts
/// This file holds the state and dispatches each input. `+Connecting` handles the socket's reports, `+Messages` the server's
/// messages, `+Subscriptions` the channels, and `+Deadlines` the deadlines. Each channel has a ``SubscriptionMachine``.
/// ``Heartbeat`` watches over an established connection, ``Backoff`` over the pauses between connections.
///
/// ### Stale reports
/// Every socket report carries its ``ConnectionAttempt``, and every authorization its ``SubscriptionAttempt``. Reports of an
/// earlier attempt are dropped: an old socket's late close must not end a new connection.
struct ConnectionMachine: Equatable, Sendable {
    private(set) var configuration: Configuration
    /// What is still to be done and told, in order, until the caller takes it.
    var outputs: [Output] = []
    var session: Session
    var subscriptions: Subscriptions
    var authorizations: AuthorizationQueue
    var unsentEvents: UnsentEvents
    var decryption = Decryption()
    var reading = Reading.flowing
    var user = UserMachine()
    var recovery: Recovery

    init(configuration: Configuration, seed: UInt64) {
        self.configuration = configuration
        var seeds = SplitMix64(seed: seed)
        let backoff = Backoff(policy: configuration.reconnectPolicy, seed: seeds.next())
        session = Session(servers: ServerList([configuration.secure] + configuration.fallbacksSecure), backoff: backoff)
        subscriptions = Subscriptions(seed: seeds.next())
        authorizations = AuthorizationQueue(limit: configuration.concurrentAuthorizations)
        recovery = Recovery(stored: configuration.positions)
        unsentEvents = UnsentEvents(perSecond: configuration.limits.clientEventsPerSecond)
    }

    // MARK: State

    var state: ConnectionState { session.state }

    var attempt: ConnectionAttempt { session.attempt }

    var isIdle: Bool { session.isIdle }

    /// Indicates whether the client was shut down, so nothing connects it again.
    var isShutDown: Bool { session.isShutDown }

    var socketID: SocketID? {
        if case .connected = session.phase { session.lastSocketID } else { nil }
    }

    /// The time at which ``Input/deadlineReached`` is due if nothing else happens; nil if nothing is awaited.
    // Inlined, as a call would copy the machine.
    @inline(__always)
    var nextDeadline: Instant? {
        let others = earlier(subscriptions.deadlines.first?.deadline, unsentEvents.nextDeadline)
        return earlier(earlier(session.nextDeadline, others), earlier(user.deadline, readingDeadline))
    }

    /// The time of the next connection attempt; nil if none is scheduled.
    var nextAttempt: Instant? {
        guard case .waiting(let until) = session.phase else { return nil }
        return until
    }

    // MARK: Inputs

    /// Handles one input. What it requires is in ``outputs`` then, in order.
    mutating func handle(_ input: Input, at now: Instant) {
        let wasIdle = isIdle
        let first = outputs.count
        defer { if !wasIdle, isIdle { signInAbandoned(because: session.endReason) } }
        switch input {
        case .received(let message, let attempt):
            received(message, attempt: attempt, at: now)
        case .receivedMalformed(let frame, let attempt):
            receivedMalformed(frame, attempt: attempt, at: now)
        case .receivedControlFrame(let attempt):
            guard attempt == self.attempt else { break }
            session.silentUpgrades = 0
            noteActivity(at: now)
        case .receivedLate(let age, let attempt):
            if attempt == self.attempt { session.changeHeartbeat { $0.received(late: age, at: now) } }
        case .connect:
            connect(at: now)
        case .disconnect:
            disconnect(at: now)
        case .shutDown:
            shutDown(at: now)
        case .clientReleased:
            clientReleased(at: now)
        case .networkChanged:
            networkChanged(at: now)
        case .moved(let secure):
            moved(secure: secure, at: now)
        case .reconnectPolicy(let policy):
            session.backoff.policy = policy
        case .reconnectAttempts(let attempts):
            session.backoff.failures = min(max(attempts, 0), 1 << 30)
        case .heartbeat(let activityTimeout, let pongTimeout):
            configuration.activityTimeout = activityTimeout
            configuration.timeouts.pong = pongTimeout
        case .socketOpened(let attempt):
            socketOpened(attempt, at: now)
        case .socketClosed(let closure, let attempt):
            socketClosed(closure, attempt: attempt, at: now)
        case .readersChanged(let areOver):
            readersChanged(areOver: areOver, at: now)
        case .subscribe(let channel, let auth, let position, let options):
            subscribe(channel, auth: auth, after: position, options, at: now)
        case .unsubscribe(let channel):
            unsubscribe(channel)
        case .adopt(let subscription):
            adopt(subscription, at: now)
        case .trigger(let event):
            trigger(event, at: now)
        case .signIn:
            signIn(at: now)
        case .userAuthorized(let attempt, let result):
            userAuthorized(attempt, result, at: now)
        case .authorized(let attempt, let result):
            authorized(attempt, result, at: now)
        case .opened(let event, let result):
            opened(event, result, at: now)
        case .deadlineReached:
            deadlineReached(at: now)
        }
        if authorizations.isWaiting { askForNextAuthorizations(at: now) }
        if recovery.mayPage { askForPages(at: now) }
        forgetSettledDeadlines()
        if !input.isEvent, outputs.dropFirst(first).contains(where: \.isSend) { noteSent(at: now) }
    }

    /// Returns what is to be done and told, and forgets it. The next outputs are in the memory of this empty list.
    mutating func takeOutputs(reusing memory: consuming [Output] = []) -> [Output] {
        swap(&outputs, &memory)
        return memory
    }

    /// Changes the phase and reports a change of state. No other code changes the state, so no change goes unreported.
    mutating func enter(_ phase: Session.Phase, because reason: PusherError? = nil) {
        guard let change = session.enter(phase, because: reason) else {
            if let reason { outputs.append(.log(.error(reason))) }
            return
        }
        outputs.append(.deliver(.stateChanged(from: change.old, to: change.new, because: reason)))
    }

    mutating func noteSent(at now: Instant) {
        session.changeHeartbeat { $0.sent(at: now) }
    }

    mutating func noteActivity(at now: Instant) {
        session.noteActivity(at: now)
    }
}

/// Returns the earlier one of two times; nil if there is none.
private func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
}

extension Input {
    /// Indicates whether the input is an application event, to which nothing is ever sent in reply.
    fileprivate var isEvent: Bool {
        if case .received(.event, _) = self { true } else { false }
    }
}

extension Output {
    fileprivate var isSend: Bool {
        if case .command(.send) = self { true } else { false }
    }
}
