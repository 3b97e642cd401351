/// Lets a limited number of authorizations be asked for at a time: hundreds of channels that resubscribe at once must not flood the
/// application's server.
struct AuthorizationQueue: Equatable, Sendable {
    private let limit: Int
    private var underWay: Set<SubscriptionAttempt> = []
    /// Those that wait for their turn, the first at ``head``.
    private var waiting: [SubscriptionAttempt] = []
    private var head = 0

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    var isWaiting: Bool { head < waiting.count }

    mutating func append(_ attempt: SubscriptionAttempt) {
        waiting.append(attempt)
    }

    /// The next one to ask for, if there is room. What is wanted no longer neither takes room nor gets a turn.
    mutating func next(isWanted: (SubscriptionAttempt) -> Bool) -> SubscriptionAttempt? {
        while head < waiting.count, !isWanted(waiting[head]) { dropFirst() }
        guard isWaiting else { return nil }
        if underWay.count >= limit { underWay = underWay.filter(isWanted) }
        guard underWay.count < limit else { return nil }
        let attempt = waiting[head]
        dropFirst()
        underWay.insert(attempt)
        return attempt
    }

    /// An answer came.
    mutating func finished(_ attempt: SubscriptionAttempt) {
        underWay.remove(attempt)
    }

    mutating func removeAll() {
        self = AuthorizationQueue(limit: limit)
    }

    private mutating func dropFirst() {
        head += 1
        // Now and then, so that each costs the same however many wait.
        guard head >= 64, head * 2 >= waiting.count else { return }
        waiting.removeFirst(head)
        head = 0
    }
}

extension ConnectionMachine {
    /// Asks for an authorization when its turn comes; the time for it begins then.
    mutating func askInTurn(_ attempt: SubscriptionAttempt, at now: Instant, into effects: inout [Effect]) {
        authorizations.append(attempt)
        askForNextAuthorizations(at: now, into: &effects)
    }

    mutating func askForNextAuthorizations(at now: Instant, into effects: inout [Effect]) {
        guard authorizations.isWaiting, let socketID else { return }
        let subscriptions = subscriptions
        while let attempt = authorizations.next(isWanted: { subscriptions[$0.channel]?.awaits($0) == true }) {
            effects.append(.authorize(attempt, socketID: socketID))
            let awaited: SubscriptionDeadline.Awaited =
                subscriptions[attempt.channel]?.state == .authorizing(attempt)
                ? .changeOf(.authorizing(attempt)) : .key(attempt)
            subscriptionDeadlines.insert(
                SubscriptionDeadline(channel: attempt.channel, awaited: awaited), at: now + configuration.authorizationTimeout)
        }
    }
}
