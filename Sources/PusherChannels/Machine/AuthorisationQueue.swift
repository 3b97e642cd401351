/// Lets a limited number of authorisations be asked for at a time: hundreds of channels that resubscribe at once must not flood the
/// application's server.
struct AuthorisationQueue: Equatable, Sendable {
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
    mutating func answered(_ attempt: SubscriptionAttempt) {
        underWay.remove(attempt)
    }

    mutating func removeAll() {
        self = AuthorisationQueue(limit: limit)
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
    /// Asks for an authorisation when its turn comes; the time for it begins then.
    mutating func askInTurn(_ attempt: SubscriptionAttempt, at now: Instant, into effects: inout [Effect]) {
        authorisations.append(attempt)
        askForNextAuthorisations(at: now, into: &effects)
    }

    mutating func askForNextAuthorisations(at now: Instant, into effects: inout [Effect]) {
        guard authorisations.isWaiting, let socketID else { return }
        let subscriptions = subscriptions
        while let attempt = authorisations.next(isWanted: { subscriptions[$0.channel]?.awaits($0) == true }) {
            effects.append(.authorise(attempt, socketID: socketID))
            let awaited: SubscriptionDeadline.Awaited =
                subscriptions[attempt.channel]?.state == .authorising(attempt)
                ? .changeOf(.authorising(attempt)) : .key(attempt)
            subscriptionDeadlines.insert(
                SubscriptionDeadline(channel: attempt.channel, awaited: awaited), at: now + configuration.authorisationTimeout)
        }
    }
}
