/// The channels that the user wants.
extension ConnectionMachine {
    mutating func subscribe(_ channel: Name, auth: PusherAuth?, at now: Instant, into effects: inout [Effect]) {
        if isShutDown {
            return effects.append(.log(.shutDown))
        }
        if let problem = problem(of: channel) {
            return SubscriptionFailure(error: problem).report(channel: channel, into: &effects)
        }
        let name = ChannelName(channel)
        if let known = subscriptions[channel] {
            switch known.state {
            case .failed, .retrying, .waiting: break
            case .authorizing, .awaitingUser, .subscribing, .subscribed: return
            }
            if let auth { subscriptions[channel]?.suppliedAuth = auth }
        } else {
            subscriptions[channel] = SubscriptionMachine(name: name, ordinal: subscriptionsMade, suppliedAuth: auth)
            subscriptionsMade += 1
        }
        begin(channel, at: now, into: &effects)
    }

    /// Returns the reason why a channel of this name can't be requested from a server; nil if it can.
    func problem(of channel: Name) -> PusherError? {
        let problem =
            channel.begins(with: "#")
            ? "channels whose names begin with # are the server's own" : ChannelName(channel).problem(configuration.limits)
        return problem.map { PusherError(.invalidRequest, message: $0) }
    }

    mutating func beginSubscriptions(at now: Instant, into effects: inout [Effect]) {
        for subscription in subscriptions.inOrder() {
            beginWhenAllowed(subscription.channel, at: now, into: &effects)
        }
    }

    /// Starts subscribing to a channel, unless its authorizer asked for a pause.
    private mutating func beginWhenAllowed(_ channel: Name, at now: Instant, into effects: inout [Effect]) {
        if socketID != nil, subscriptions[channel]?.waitIfAskedTo(at: now) == true {
            setDeadline(for: channel, at: now)
        } else {
            begin(channel, at: now, into: &effects)
        }
    }

    /// Starts subscribing to a channel if there is a connection.
    mutating func begin(_ channel: Name, at now: Instant, into effects: inout [Effect]) {
        guard socketID != nil else { return }
        let attempt = nextSubscriptionAttempt(for: channel)
        switch subscriptions[channel]?.begin(attempt, into: &effects) {
        case .askForAuthorization: askInTurn(attempt, at: now, into: &effects)
        case .use(let auth): subscribe(channel, with: auth, at: now, into: &effects)
        case .awaitResponse, nil: break
        }
        setDeadline(for: channel, at: now)
    }

    mutating func nextSubscriptionAttempt(for channel: Name) -> SubscriptionAttempt {
        subscriptionGeneration += 1
        return SubscriptionAttempt(channel: channel, connection: attempt, generation: subscriptionGeneration)
    }

    mutating func authorized(
        _ attempt: SubscriptionAttempt, _ result: Result<PusherAuth, AuthorizationFailure>, at now: Instant,
        into effects: inout [Effect]
    ) {
        authorizations.finished(attempt)
        if keyRefreshed(attempt, result, at: now, into: &effects) { return }
        guard subscriptions[attempt.channel]?.state == .authorizing(attempt) else {
            effects.append(.log(.staleAuthorization(attempt.channel)))
            return
        }
        switch result {
        case .success(let auth):
            subscribe(attempt.channel, with: auth, at: now, into: &effects)
            setDeadline(for: attempt.channel, at: now)
        case .failure(let failure):
            authorizationFailed(attempt.channel, failure, at: now, into: &effects)
        }
    }

    private mutating func subscribe(
        _ channel: Name, with auth: PusherAuth, at now: Instant, into effects: inout [Effect]
    ) {
        if subscriptions[channel]?.encryptedEvents != nil, auth.sharedSecret == nil {
            let message = "the authorization for \(channel) has no shared_secret, which encrypted channels need"
            return authorizationFailed(channel, AuthorizationFailure(message: message, isRetryable: true), at: now, into: &effects)
        }
        if user.isExpected, subscriptions[channel]?.awaitUser(with: auth) == true { return }
        subscriptions[channel]?.subscribe(with: auth, into: &effects)
        useKey(auth, of: channel, into: &effects)
    }

    /// Subscribes the channels that waited for the sign-in to end: the server now knows who joins, or refuses them itself.
    mutating func subscribeThoseThatAwaitUser(at now: Instant, into effects: inout [Effect]) {
        for subscription in subscriptions.inOrder(where: \.awaitsUser) {
            subscriptions[subscription.channel]?.userIsKnown(into: &effects)
            setDeadline(for: subscription.channel, at: now)
        }
    }

    private mutating func authorizationFailed(
        _ channel: Name, _ failure: AuthorizationFailure, at now: Instant, into effects: inout [Effect]
    ) {
        subscriptionFailed(
            channel, SubscriptionFailure(error: failure.error, authorization: failure), at: now, into: &effects)
    }

    mutating func subscriptionFailed(
        _ channel: Name, _ failure: SubscriptionFailure, at now: Instant, into effects: inout [Effect]
    ) {
        guard let failures = subscriptions[channel]?.failures else { return }
        let delay = configuration.subscriptionRetry.delay(afterFailures: failures, using: &subscriptionJitter)
        let retry = failure.error.isRetryable ? now + max(delay, failure.error.retryAfter ?? .zero) : nil
        let heard = heardBefore ?? now
        subscriptions[channel]?.fail(failure, at: now, heardUpTo: heard, retryingAt: retry, into: &effects)
        setDeadline(for: channel, at: now)
    }

    mutating func unsubscribe(_ channel: Name, into effects: inout [Effect]) {
        // The user's own channel goes with the sign-in.
        if channel != user.channel { giveUp(channel, into: &effects) }
    }

    private mutating func giveUp(_ channel: Name, into effects: inout [Effect]) {
        let given = subscriptions.remove(channel)
        forgetUnnamedRefusal(ifOf: given)
        given?.abandon(into: &effects)
    }

    /// Returns a channel's state for another connection to take over once this one has given it up. Its next subscription then
    /// reports since when events may be missing, and who came and went meanwhile.
    func handedOver(_ channel: Name, at now: Instant) -> SubscriptionMachine? {
        var subscription = subscriptions[channel]
        var cancellations: [Effect] = []
        subscription?.connectionLost(at: heardUpTo ?? now, into: &cancellations)
        subscription?.encryptedEvents?.handedOver()
        return subscription
    }

    mutating func adopt(_ subscription: SubscriptionMachine, at now: Instant, into effects: inout [Effect]) {
        guard subscriptions[subscription.channel] == nil else { return }
        var subscription = subscription
        subscription.ordinal = subscriptionsMade
        subscriptionsMade += 1
        subscriptions[subscription.channel] = subscription
        beginWhenAllowed(subscription.channel, at: now, into: &effects)
    }

    /// The time up to which everything that had arrived was heard; nil without a connection.
    var heardUpTo: Instant? {
        if case .connected(let session) = phase { session.heartbeat.heardUpTo } else { nil }
    }

    /// The time of the message before the one that is being handled; nil without a connection.
    var heardBefore: Instant? {
        if case .connected(let session) = phase { session.heartbeat.heardBefore } else { nil }
    }

    mutating func unsubscribeAll(into effects: inout [Effect]) {
        for subscription in subscriptions.inOrder() {
            giveUp(subscription.channel, into: &effects)
        }
    }

    mutating func subscriptionsLost(at now: Instant, into effects: inout [Effect]) {
        let time = heardUpTo ?? now
        channelsWithUnsentEvents = []
        authorizations.removeAll()
        unnamedRefusals = []
        userLost(at: time, into: &effects)
        for channel in subscriptions.all.map(\.channel).sorted() {
            subscriptions[channel]?.connectionLost(at: time, into: &effects)
        }
    }
}
