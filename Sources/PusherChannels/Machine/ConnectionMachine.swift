/// The whole behavior of a connection as a value: inputs and times in, effects and the next deadline out.
///
/// ### Overview
/// The machine knows what the user wants (to be connected or not, which channels) and works toward it. It has no clock, does
/// no I/O, draws randomness from a generator it was seeded with and takes no locks, so that any history can be replayed in a
/// test as a list of inputs.
///
/// ### Parts
/// This file has the state and sends each input on its way. The socket's reports are in `+Connecting`, the server's messages
/// in `+Messages`, what becomes of channels in `+Subscriptions`, what time brings in `+Deadlines`. Each channel has a
/// ``SubscriptionMachine``; ``Heartbeat`` watches over an established connection, ``Backoff`` over the pauses between them.
///
/// ### Stale news
/// Every socket report carries its ``ConnectionAttempt``, every authorization its ``SubscriptionAttempt``. One that doesn't belong to
/// the current one is dropped: an old socket's late close must not end a new connection.
struct ConnectionMachine: Equatable, Sendable {
    enum Phase: Equatable {
        case idle
        /// A socket is being opened: name, TCP, TLS and upgrade.
        case opening(deadline: Instant)
        /// The socket is open; `pusher:connection_established` has not come yet.
        case establishing(deadline: Instant)
        case connected(Session)
        case waiting(until: Instant)
        case closing(deadline: Instant, then: AfterClosing)
        /// For good.
        case shutDown
    }

    enum AfterClosing: Equatable {
        case stayDisconnected
        case connect
        case shutDown
    }

    /// The state of an established connection. It is looked at with each event, so it holds nothing that counts its references.
    struct Session: Equatable {
        let since: Instant
        var heartbeat: Heartbeat
    }

    let configuration: Configuration
    var phase = Phase.idle
    var attempt = ConnectionAttempt(0)
    var secure: Bool
    var backoff: Backoff
    /// The server closed the last connection with a code that asks the client to come back, and none was established since.
    var isAskedBack = false
    /// The reason for the latest change of the phase; nil where it was asked for.
    private(set) var endReason: PusherError?
    /// The last error that the server reported, as long as it said nothing else: a plain close after it is explained by it.
    var lastServerError: PusherError?
    /// The error that ended the last connection, or the last attempt at one, until there is another connection.
    var lastConnectionError: PusherError?

    var subscriptions: [Name: SubscriptionMachine] = [:]
    var subscriptionsMade = 0
    var subscriptionGeneration = 0
    var subscriptionDeadlines = DeadlineHeap<SubscriptionDeadline>()
    var subscriptionJitter: SplitMix64
    /// Refusals of authorized subscriptions that don't say which ones are meant: fewer than are under way.
    var unnamedRefusals: [PusherError] = []
    /// So many more of these, or of other answers, must come before they can be those of all channels that await one.
    var verdictsMissing = 0
    var authorizations: AuthorizationQueue
    var clientEventLimiter: ClientEventLimiter
    var reading = Reading.flowing
    var user = UserMachine()
    var encryptedEventsNumbered: EncryptedEvents.Number = 0
    /// The events that were read before the client was shut down, and are still to be opened.
    var lastEncryptedEvents: [Name: EncryptedEvents] = [:]
    /// Channels with so much still to be decrypted that the server is made to wait.
    var channelsToDecrypt: Set<Name> = []
    /// Channels with client events that wait for the limiter.
    var channelsWithUnsentEvents: Set<Name> = []
    /// The one of them that sent last.
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

    /// Indicates whether nothing connects the client again.
    var isShutDown: Bool {
        switch phase {
        case .shutDown, .closing(_, .shutDown): true
        case .idle, .opening, .establishing, .connected, .waiting, .closing: false
        }
    }

    var socketID: String? {
        if case .connected = phase { lastSocketID } else { nil }
    }

    /// When ``Input/deadlineReached`` is due, if nothing else happens; nil when nothing is waited for.
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

    /// When the next connection attempt will be made; nil unless one is waited for.
    var nextAttempt: Instant? {
        guard case .waiting(let until) = phase else { return nil }
        return until
    }

    /// The server's name for this connection, or for the one before while there is none: what log lines go by.
    var lastSocketID: String?

    // MARK: Inputs

    /// Takes one input; appends what is to be done to `effects`, in order.
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
            if attempt == self.attempt { noteActivity(at: now) }
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

    /// The one place where the phase changes, so that no change of state goes unreported.
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
    /// Indicates whether it is an application's event, to which nothing is ever sent.
    fileprivate var isEvent: Bool {
        if case .received(.event, _) = self { true } else { false }
    }
}

extension Effect {
    fileprivate var isSend: Bool {
        if case .send = self { true } else { false }
    }
}
