/// The subject of an authorization under way.
enum AuthorizationID: Hashable {
    case channel(SubscriptionAttempt)
    case user(UserMachine.Attempt)
}

/// A queue that limits the number of authorizations requested at a time: hundreds of channels that resubscribe at once must not
/// flood the application's server.
struct AuthorizationQueue: Equatable, Sendable {
    private let limit: Int
    /// Those that were requested. Attempts that have ended stay until their room is needed.
    private var underWay: Set<SubscriptionAttempt> = []
    private var waiting = Deque<SubscriptionAttempt>()

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    var isWaiting: Bool { !waiting.isEmpty }

    mutating func append(_ attempt: SubscriptionAttempt) {
        waiting.append(attempt)
    }

    /// Returns the next attempt to authorize, if there is room. An attempt that is no longer wanted neither takes room nor gets a
    /// turn.
    mutating func next(isWanted: (SubscriptionAttempt) -> Bool) -> SubscriptionAttempt? {
        while let first = waiting.first, !isWanted(first) { waiting.popFirst() }
        guard isWaiting else { return nil }
        if underWay.count >= limit { underWay = underWay.filter(isWanted) }
        guard underWay.count < limit, let attempt = waiting.popFirst() else { return nil }
        underWay.insert(attempt)
        return attempt
    }

    mutating func removeAll() {
        self = AuthorizationQueue(limit: limit)
    }
}

extension ConnectionMachine {
    /// Requests an authorization when its turn comes. Its time-out starts then.
    mutating func askInTurn(_ attempt: SubscriptionAttempt, at now: Instant) {
        authorizations.append(attempt)
        askForNextAuthorizations(at: now)
    }

    /// Takes the next one. The copy ends here: a deadline that is set beside it would copy all deadlines.
    private mutating func nextAuthorization() -> SubscriptionAttempt? {
        let subscriptions = subscriptions
        return authorizations.next { subscriptions[$0.channel]?.awaits($0) == true }
    }

    mutating func askForNextAuthorizations(at now: Instant) {
        guard authorizations.isWaiting, let socketID else { return }
        while let attempt = nextAuthorization() {
            outputs.append(.command(.authorize(attempt, socketID: socketID)))
            let awaited: SubscriptionDeadline.Awaited =
                subscriptions[attempt.channel]?.state == .authorizing(attempt)
                ? .changeOf(.authorizing(attempt)) : .key(attempt)
            subscriptions.deadlines.insert(
                SubscriptionDeadline(channel: attempt.channel, awaited: awaited), at: now + configuration.timeouts.authorization)
        }
    }
}
