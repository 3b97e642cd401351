/// The whole behavior of a connection as a value: inputs and times in, effects and the next deadline out.
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
    enum Phase: Equatable {
        case idle
        /// A socket is being opened: name look-up, TCP, TLS, and upgrade.
        case opening(deadline: Instant)
        /// The socket is open; `pusher:connection_established` has not arrived yet.
        case establishing(deadline: Instant)
        case connected(Session)
        case waiting(until: Instant)
        case closing(deadline: Instant, then: AfterClosing)
        /// The client was shut down for good.
        case shutDown
    }

    enum AfterClosing: Equatable {
        case stayDisconnected
        case connect
        case shutDown
    }

    /// The state of an established connection. Every event reads it, so it holds nothing that is reference-counted.
    struct Session: Equatable {
        let since: Instant
        var heartbeat: Heartbeat
    }

    let configuration: Configuration
    var phase = Phase.idle
    var attempt = ConnectionAttempt(0)
    var secure: Bool
    var backoff: Backoff
    /// Indicates whether the server closed the last connection with a code that asks the client to come back, and no connection
    /// has been established since.
    var isAskedBack = false
    /// The reason for the latest phase change; nil if the user asked for it.
    private(set) var endReason: PusherError?
    /// The last error that the server reported, until it sends another message. It explains a plain close that follows.
    var lastServerError: PusherError?
    /// The number of attempts in a row in which the server has sent nothing after the upgrade, the current one included.
    var silentUpgrades = 0
    /// The error that ended the last connection or connection attempt, until another connection is established.
    var lastConnectionError: PusherError?

    var subscriptions = Subscriptions()
    var subscriptionsMade = 0
    var subscriptionGeneration = 0
    var subscriptionDeadlines = DeadlineHeap<SubscriptionDeadline>()
    var subscriptionJitter: SplitMix64
    /// Refusals of authorized subscriptions that name no channel. There are fewer of them than such subscriptions under way.
    var unnamedRefusals: [PusherError] = []
    var authorizations: AuthorizationQueue
    var clientEventLimiter: ClientEventLimiter
    var reading = Reading.flowing
    var user = UserMachine()
    var encryptedEventsNumbered: EncryptedEvents.Number = 0
    /// The events that were read before the client was shut down and are still to be decrypted.
    var lastEncryptedEvents: [Name: EncryptedEvents] = [:]
    /// Channels with so much left to decrypt that the server is made to wait.
    var channelsToDecrypt: Set<Name> = []
    /// Channels with client events that wait for the limiter.
    var channelsWithUnsentEvents: Set<Name> = []
    /// The channel among them that sent most recently.
    var lastChannelInTurn: Name = ""

    init(configuration: Configuration, seed: UInt64) {
        self.configuration = configuration
        secure = configuration.secure
        var seeds = SplitMix64(seed: seed)
        backoff = Backoff(policy: configuration.reconnectPolicy, seed: seeds.next())
        subscriptionJitter = SplitMix64(seed: seeds.next())
        authorizations = AuthorizationQueue(limit: configuration.concurrentAuthorizations)
        clientEventLimiter = ClientEventLimiter(perSecond: configuration.limits.clientEventsPerSecond)
    }

    // MARK: State

    var state: ConnectionState {
        switch phase {
        case .idle, .shutDown: .disconnected
        case .opening, .establishing: .connecting
        case .connected: .connected
        case .waiting: .reconnecting
        case .closing: .disconnecting
        }
    }

    /// Indicates whether the client was shut down, so nothing connects it again.
    var isShutDown: Bool {
        switch phase {
        case .shutDown, .closing(_, .shutDown): true
        case .idle, .opening, .establishing, .connected, .waiting, .closing: false
        }
    }

    var socketID: SocketID? {
        if case .connected = phase { lastSocketID } else { nil }
    }

    /// The time at which ``Input/deadlineReached`` is due if nothing else happens; nil if nothing is awaited.
    var nextDeadline: Instant? {
        let phaseDeadline: Instant? =
            switch phase {
            case .idle, .shutDown: nil
            case .opening(let deadline), .establishing(let deadline), .closing(let deadline, _): deadline
            case .waiting(let until): until
            case .connected(let session): session.heartbeat.nextDeadline
            }
        let unsentDeadline = channelsWithUnsentEvents.isEmpty ? nil : clientEventLimiter.nextChance
        return earliest(
            phaseDeadline,
            earliest(subscriptionDeadlines.first?.deadline, earliest(unsentDeadline, earliest(user.deadline, readingDeadline))))
    }

    private func earliest(_ left: Instant?, _ right: Instant?) -> Instant? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    /// The time of the next connection attempt; nil if none is scheduled.
    var nextAttempt: Instant? {
        guard case .waiting(let until) = phase else { return nil }
        return until
    }

    /// The server's ID for this connection, or for the previous one while there is none. Log lines identify connections by it.
    var lastSocketID: SocketID?

    // MARK: Inputs

    /// Handles one input, and appends the actions it requires to `effects`, in order.
    mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
        let wasIdle = isIdle
        let first = effects.count
        defer { if !wasIdle, isIdle { signInAbandoned(because: endReason, into: &effects) } }
        switch input {
        case .received(let message, let attempt):
            received(message, attempt: attempt, at: now, into: &effects)
        case .receivedMalformed(let frame, let attempt):
            receivedMalformed(frame, attempt: attempt, at: now, into: &effects)
        case .receivedControlFrame(let attempt):
            guard attempt == self.attempt else { break }
            silentUpgrades = 0
            noteActivity(at: now)
        case .receivedLate(let age, let attempt):
            if attempt == self.attempt { noteDelay(of: age, at: now) }
        case .connect:
            connect(at: now, into: &effects)
        case .disconnect:
            disconnect(at: now, into: &effects)
        case .shutDown:
            shutDown(at: now, into: &effects)
        case .letGo:
            letGo(at: now, into: &effects)
        case .networkChanged:
            networkChanged(at: now, into: &effects)
        case .reconnectPolicy(let policy):
            backoff.policy = policy
        case .socketOpened(let attempt):
            socketOpened(attempt, at: now, into: &effects)
        case .socketClosed(let closure, let attempt):
            socketClosed(closure, attempt: attempt, at: now, into: &effects)
        case .readersChanged(let areOver):
            readersChanged(areOver: areOver, at: now, into: &effects)
        case .subscribe(let channel, let auth):
            subscribe(channel, auth: auth, at: now, into: &effects)
        case .unsubscribe(let channel):
            unsubscribe(channel, into: &effects)
        case .adopt(let subscription):
            adopt(subscription, at: now, into: &effects)
        case .trigger(let event):
            trigger(event, at: now, into: &effects)
        case .signIn:
            signIn(at: now, into: &effects)
        case .userAuthorized(let attempt, let result):
            userAuthorized(attempt, result, at: now, into: &effects)
        case .authorized(let attempt, let result):
            authorized(attempt, result, at: now, into: &effects)
        case .opened(let event, let result):
            opened(event, result, at: now, into: &effects)
        case .deadlineReached:
            deadlineReached(at: now, into: &effects)
        }
        if authorizations.isWaiting { askForNextAuthorizations(at: now, into: &effects) }
        forgetSettledDeadlines()
        if !input.isEvent, effects.dropFirst(first).contains(where: \.isSend) { noteSent(at: now) }
    }

    var isIdle: Bool {
        switch phase {
        case .idle, .shutDown: true
        case .opening, .establishing, .connected, .waiting, .closing: false
        }
    }

    /// Changes the phase and reports a change of state. No other code changes the state, so no change goes unreported.
    mutating func enter(_ phase: Phase, because reason: PusherError? = nil, into effects: inout [Effect]) {
        let before = state
        self.phase = phase
        endReason = reason
        if state != before { effects.append(.deliver(.stateChanged(from: before, to: state, because: reason))) }
    }

    private mutating func noteDelay(of age: Duration, at now: Instant) {
        guard case .connected(var session) = phase else { return }
        session.heartbeat.received(late: age, at: now)
        phase = .connected(session)
    }

    mutating func noteSent(at now: Instant) {
        guard case .connected(var session) = phase else { return }
        session.heartbeat.sent(at: now)
        phase = .connected(session)
    }

    mutating func noteActivity(at now: Instant) {
        guard case .connected(var session) = phase else { return }
        session.heartbeat.activity(at: now)
        phase = .connected(session)
    }
}

extension Input {
    /// Indicates whether the input is an application event, to which nothing is ever sent in reply.
    fileprivate var isEvent: Bool {
        if case .received(.event, _) = self { true } else { false }
    }
}

extension Effect {
    fileprivate var isSend: Bool {
        if case .send = self { true } else { false }
    }
}
