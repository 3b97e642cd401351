/// Deadlines, and the reactions to them.
extension ConnectionMachine {
    /// A deadline of a channel, and the change that it is for.
    struct SubscriptionDeadline: Equatable, Sendable {
        enum Awaited: Equatable, Sendable {
            /// A change from this state to another one.
            case changeOf(SubscriptionMachine.State)
            /// The new key of an encrypted channel.
            case key(SubscriptionAttempt)
            /// The answer to a request for replays.
            case replay(Int)
            /// The next step of a channel's recovery.
            case recovery(Int)
        }

        let channel: Name
        let awaited: Awaited
    }

    private func isStillAwaited(_ deadline: SubscriptionDeadline) -> Bool {
        if case .replay(let number) = deadline.awaited { return recovery.awaits(number) }
        guard let subscription = subscriptions[deadline.channel] else { return false }
        return switch deadline.awaited {
        case .changeOf(let state): subscription.state == state
        case .key(let attempt): subscription.encryptedEvents?.refresh == attempt
        case .recovery(let step): subscription.recovery?.step == step
        case .replay: false
        }
    }

    mutating func deadlineReached(at now: Instant) {
        phaseDeadlineReached(at: now)
        while let (deadline, key) = subscriptions.deadlines.first, deadline <= now {
            subscriptions.deadlines.removeFirst()
            subscriptionDeadlineReached(key, at: now)
        }
        sendUnsentEvents(at: now)
        signInDeadlineReached(at: now)
        readingDeadlineReached(at: now)
    }

    private mutating func phaseDeadlineReached(at now: Instant) {
        switch session.phase {
        case .idle, .shutDown:
            break
        case .opening(let deadline):
            if now >= deadline {
                attemptTimedOut("no connection to the server within \(configuration.timeouts.open)", at: now)
            }
        case .establishing(let deadline):
            if now >= deadline {
                let time = configuration.timeouts.establish
                attemptTimedOut("the server did not establish the connection within \(time)", at: now)
            }
        case .connected:
            checkHeartbeat(at: now)
        case .waiting(let until):
            if now >= until { connect(at: now) }
        case .closing(let deadline, let then):
            if now >= deadline { closed(then, at: now) }
        }
    }

    private mutating func attemptTimedOut(_ problem: String, at now: Instant) {
        outputs.append(.command(.closeSocket(attempt, code: 1000, reason: "")))
        let error = PusherError(.timedOut, message: problem)
        outputs.append(.deliver(.report(error)))
        connectionEnded(.backOff(atLeast: .zero), because: error, at: now)
    }

    private mutating func checkHeartbeat(at now: Instant) {
        switch session.changeHeartbeat({ $0.check(at: now) }) ?? nil {
        case nil:
            break
        case .ping:
            outputs.append(.command(.send(.ping)))
        case .dead:
            let problem = "no sign of life from the server within \(configuration.timeouts.pong) of a ping"
            let error = PusherError(.timedOut, message: problem)
            outputs.append(.command(.closeSocket(attempt, code: 4201, reason: "pong not received")))
            outputs.append(.deliver(.report(error)))
            let reaction: CloseReaction = session.backoff.policy.spreadsSilentOnes ? .backOff(atLeast: .zero) : .reconnectAtOnce
            connectionEnded(reaction, because: error, at: now)
        }
    }

    private mutating func subscriptionDeadlineReached(
        _ key: SubscriptionDeadline, at now: Instant
    ) {
        guard isStillAwaited(key) else { return }
        let noAuthorization = "no authorization for \(key.channel) within \(configuration.timeouts.authorization)"
        switch key.awaited {
        case .key(let attempt):
            outputs.append(.command(.cancelAuthorization(attempt, unansweredFor: configuration.timeouts.authorization)))
            keyRefused(key.channel, noAuthorization, at: now)
        case .replay(let number): replayTimedOut(number, at: now)
        case .recovery: recoveryDeadlineReached(key.channel, at: now)
        case .changeOf(.retrying):
            begin(key.channel, at: now)
        case .changeOf(.authorizing(let attempt)):
            outputs.append(.command(.cancelAuthorization(attempt, unansweredFor: configuration.timeouts.authorization)))
            subscriptionFailed(key.channel, timedOut(noAuthorization), at: now)
        case .changeOf(.subscribing) where isReadingPaused, .changeOf(.awaitingUser) where user.isSigningIn:
            subscriptions.deadlines.insert(key, at: now + timeForUnreadReplies)
        case .changeOf(.subscribing):
            let time = configuration.timeouts.subscription
            let words = subscriptions.unattributedError.map { "; meanwhile it said: \"\($0.message)\"" } ?? ""
            let problem = "the server did not answer the subscription to \(key.channel) within \(time)\(words)"
            forgetUnnamedRefusal(ifOf: subscriptions[key.channel])
            subscriptionFailed(key.channel, timedOut(problem), at: now)
        case .changeOf(.awaitingUser):
            let problem = "the authorization for \(key.channel) names no user, and none was signed in within \(timeForSignIn)"
            subscriptionFailed(key.channel, timedOut(problem), at: now)
        case .changeOf(.waiting), .changeOf(.subscribed), .changeOf(.failed):
            break
        }
    }

    /// The longest time that a sign-in takes if it isn't retried.
    private var timeForSignIn: Duration { configuration.timeouts.authorization + configuration.timeouts.subscription }

    private func timedOut(_ problem: String) -> SubscriptionFailure {
        SubscriptionFailure(error: PusherError(.timedOut, message: problem))
    }

    /// Sets the deadline of a channel's current step toward a subscription. The deadline of an authorization is set when it is
    /// requested.
    mutating func setDeadline(for channel: Name, at now: Instant) {
        guard let state = subscriptions[channel]?.state else { return }
        let deadline: Instant
        switch state {
        case .awaitingUser: deadline = now + timeForSignIn
        case .subscribing: deadline = now + configuration.timeouts.subscription
        case .retrying(let time): deadline = time
        case .waiting, .authorizing, .subscribed, .failed: return
        }
        subscriptions.deadlines.insert(SubscriptionDeadline(channel: channel, awaited: .changeOf(state)), at: deadline)
    }

    /// Drops deadlines that were met, so ``nextDeadline`` is a time at which something happens.
    mutating func forgetSettledDeadlines() {
        while let key = subscriptions.deadlines.first?.key, !isStillAwaited(key) {
            subscriptions.deadlines.removeFirst()
        }
    }
}
