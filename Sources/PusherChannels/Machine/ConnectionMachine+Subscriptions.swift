/// The channels that the user wants.
extension ConnectionMachine {
    mutating func subscribe(
        _ channel: Name, auth: PusherAuth?, after position: StreamPosition?, _ options: SubscriptionOptions?, at now: Instant
    ) {
        if isShutDown {
            return outputs.append(.log(.shutDown))
        }
        if let problem = problem(of: channel) {
            return report(SubscriptionFailure(error: problem), of: channel)
        }
        let name = ChannelName(channel)
        let known = subscriptions[channel]
        // Those who have the channel would hear of a mistake that isn't theirs.
        if known == nil || known?.state == .failed, let problem = options?.problem(in: configuration.protocol) {
            return report(SubscriptionFailure(error: PusherError(.invalidRequest, message: problem)), of: channel)
        }
        if known == nil {
            var subscription = SubscriptionMachine(name: name, suppliedAuth: auth)
            subscription.askedAt = now
            subscriptions.add(subscription)
        }
        let stored = recovery.stored.removeValue(forKey: channel)
        // One that was subscribed goes on where it is.
        if let position = position ?? stored, known?.wasSubscribed != true {
            subscriptions[channel]?.resume(after: position, isReplayed: configuration.protocol == .sockudo, at: now)
        }
        switch known?.state {
        case nil, .failed: subscriptions[channel]?.ask(for: options)
        case .retrying, .waiting: break
        case .authorizing, .awaitingUser, .subscribing, .subscribed: return
        }
        subscriptions[channel]?.askedAgain(with: auth)
        begin(channel, at: now)
    }

    /// Returns the reason why a channel of this name can't be requested from a server; nil if it can.
    func problem(of channel: Name) -> PusherError? {
        let problem =
            channel.begins(with: "#")
            ? "channels whose names begin with # are the server's own" : ChannelName(channel).problem(configuration.limits)
        return problem.map { PusherError(.invalidRequest, message: $0) }
    }

    mutating func beginSubscriptions(at now: Instant) {
        for subscription in subscriptions.inOrder() {
            beginWhenAllowed(subscription.channel, at: now)
        }
    }

    /// Starts subscribing to a channel, unless its authorizer asked for a pause.
    private mutating func beginWhenAllowed(_ channel: Name, at now: Instant) {
        if socketID != nil, subscriptions[channel]?.waitIfAskedTo(at: now) == true {
            setDeadline(for: channel, at: now)
        } else {
            begin(channel, at: now)
        }
    }

    /// Starts subscribing to a channel if there is a connection.
    mutating func begin(_ channel: Name, at now: Instant) {
        guard socketID != nil else { return }
        let attempt = subscriptions.nextAttempt(for: channel, on: attempt)
        switch subscriptions[channel]?.begin(attempt) {
        case .askForAuthorization: askInTurn(attempt, at: now)
        case .use(let auth): subscribe(channel, with: auth, at: now)
        case .send(let request): outputs.append(.command(.send(request)))
        case nil: break
        }
        setDeadline(for: channel, at: now)
    }

    mutating func authorized(
        _ attempt: SubscriptionAttempt, _ result: Result<PusherAuth, AuthorizationFailure>, at now: Instant
    ) {
        if keyRefreshed(attempt, result, at: now) { return }
        guard subscriptions[attempt.channel]?.state == .authorizing(attempt) else {
            outputs.append(.log(.staleAuthorization(attempt.channel)))
            return
        }
        switch result {
        case .success(let auth):
            subscribe(attempt.channel, with: auth, at: now)
            setDeadline(for: attempt.channel, at: now)
        case .failure(let failure):
            authorizationFailed(attempt.channel, failure, at: now)
        }
    }

    private mutating func subscribe(
        _ channel: Name, with auth: PusherAuth, at now: Instant
    ) {
        if subscriptions[channel]?.encryptedEvents != nil, auth.sharedSecret == nil {
            let message = "the authorization for \(channel) has no shared_secret, which encrypted channels need"
            return authorizationFailed(channel, AuthorizationFailure(message: message, isRetryable: true), at: now)
        }
        if user.isExpected, subscriptions[channel]?.awaitUser(with: auth) == true { return }
        if let request = subscriptions[channel]?.subscribe(with: auth) ?? nil { outputs.append(.command(.send(request))) }
        useKey(auth, of: channel)
    }

    /// Subscribes the channels that waited for the sign-in to end: the server now knows who joins, or refuses them itself.
    mutating func subscribeThoseThatAwaitUser(at now: Instant) {
        for subscription in subscriptions.inOrder(where: \.awaitsUser) {
            if let request = subscriptions[subscription.channel]?.userIsKnown() ?? nil {
                outputs.append(.command(.send(request)))
            }
            setDeadline(for: subscription.channel, at: now)
        }
    }

    private mutating func authorizationFailed(
        _ channel: Name, _ failure: AuthorizationFailure, at now: Instant
    ) {
        subscriptionFailed(
            channel, SubscriptionFailure(error: failure.error, authorization: failure), at: now)
    }

    mutating func subscriptionFailed(
        _ channel: Name, _ failure: SubscriptionFailure, at now: Instant
    ) {
        guard let failures = subscriptions[channel]?.failures else { return }
        let delay = configuration.subscriptionRetry.delay(afterFailures: failures, using: &subscriptions.jitter)
        let retry = failure.error.isRetryable ? now + max(delay, failure.error.retryAfter ?? .zero) : nil
        let heard = session.receivedBefore ?? now
        if let needless = subscriptions[channel]?.fail(failure, at: now, receivedUpTo: heard, retryingAt: retry) ?? nil {
            outputs.append(.command(.cancelAuthorization(needless)))
        }
        interruptRecovery(of: channel)
        var failure = failure
        failure.isRepeated = subscriptions[channel]?.repeats(failure.error) == true
        report(failure, of: channel)
        setDeadline(for: channel, at: now)
    }

    mutating func unsubscribe(_ channel: Name) {
        // The user's own channel goes with the sign-in.
        if channel != user.channel { abandon(channel) }
    }

    private mutating func abandon(_ channel: Name) {
        let given = subscriptions.remove(channel)
        forgetUnnamedRefusal(ifOf: given)
        forgetRecovery(of: given)
        if let needless = given?.authorizationUnderWay { outputs.append(.command(.cancelAuthorization(needless))) }
        if let message = given?.abandonment { outputs.append(.command(.send(message))) }
    }

    /// Returns a channel's state for another connection to take over once this one has given it up. Its next subscription then
    /// reports since when events may be missing, and who came and went meanwhile.
    func stateToMove(of channel: Name, at now: Instant) -> SubscriptionMachine? {
        var subscription = subscriptions[channel]
        subscription?.connectionLost(at: session.receivedUpTo ?? now)
        subscription?.recovery?.lost()
        subscription?.encryptedEvents?.moved()
        return subscription
    }

    mutating func adopt(_ subscription: SubscriptionMachine, at now: Instant) {
        guard subscriptions[subscription.channel] == nil else { return }
        recovery.stored[subscription.channel] = nil
        subscriptions.add(subscription)
        beginWhenAllowed(subscription.channel, at: now)
    }

    mutating func unsubscribeAll() {
        for subscription in subscriptions.inOrder() {
            abandon(subscription.channel)
        }
    }

    /// Notes the loss of the connection.
    ///
    /// - Parameter time: The time up to which everything that arrived is known to have been heard.
    mutating func subscriptionsLost(receivedUpTo time: Instant) {
        unsentEvents.connectionLost()
        authorizations.removeAll()
        subscriptions.unnamedRefusals = []
        // First: the user's channel, which is taken out then, is one of those that wait for a replay.
        recoveryLost(at: time)
        userLost(at: time)
        // Afterward: the user's channel was taken out, and its request isn't one that was undone.
        subscriptions.forgetUndone()
        for channel in subscriptions.all.map(\.channel).sorted() {
            if let needless = subscriptions[channel]?.connectionLost(at: time) ?? nil {
                outputs.append(.command(.cancelAuthorization(needless)))
            }
        }
    }
}
