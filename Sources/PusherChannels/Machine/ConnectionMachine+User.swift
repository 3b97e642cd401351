/// Sign-in of a user, once for each connection.
extension ConnectionMachine {
    mutating func signIn(at now: Instant) {
        if isShutDown {
            user.isAwaited = true
            return signInAbandoned()
        }
        switch user.state {
        case .signedOut, .retrying, .failed:
            user.isAwaited = true
            user.state = .waiting
            user.notBefore = nil
            beginSignIn(at: now)
        case .signedIn(let id, _):
            outputs.append(.deliver(.signedIn(userID: id)))
        case .waiting:
            user.isAwaited = true
            user.notBefore = nil
        case .authorizing, .signingIn:
            user.isAwaited = true
        }
        // A client that gave up doesn't connect until somebody asks for it.
        if isIdle, let reason = session.endReason { signInAbandoned(because: reason) }
    }

    /// Starts the sign-in if a user is wanted and there is a connection.
    mutating func beginSignIn(at now: Instant) {
        guard let socketID, user.state != .signedOut else { return }
        if let time = user.notBefore, time > now { return user.state = .retrying(at: time) }
        user.attempts += 1
        let attempt = UserMachine.Attempt(connection: self.attempt, number: user.attempts)
        user.state = .authorizing(attempt, deadline: now + configuration.timeouts.authorization)
        outputs.append(.command(.authorizeUser(attempt, socketID: socketID)))
    }

    mutating func userAuthorized(
        _ attempt: UserMachine.Attempt, _ result: Result<PusherUserAuth, AuthorizationFailure>, at now: Instant
    ) {
        guard case .authorizing(attempt, _) = user.state else {
            outputs.append(.log(.staleUserAuthorization))
            return
        }
        switch result {
        case .success(let auth):
            user.state = .signingIn(deadline: now + configuration.timeouts.subscription)
            user.isAskedFor = true
            user.takenError = nil
            outputs.append(.command(.send(.signIn(auth: auth.auth, userData: auth.userData))))
        case .failure(let failure):
            authorizationOfUserFailed(failure.error, at: now)
        }
    }

    /// Reports the failure to the waiting callers. A failure that may pass is retried nevertheless, as for a channel.
    private mutating func authorizationOfUserFailed(_ error: PusherError, at now: Instant) {
        user.notBefore = error.retryAfter.map { now + $0 }
        guard error.isRetryable else { return signInFailed(error, at: now) }
        let delay = configuration.subscriptionRetry.delay(afterFailures: user.failures, using: &subscriptions.jitter)
        user.failures += 1
        let next = max(now + delay, user.notBefore ?? now)
        signInFailed(error, retryingAt: next, at: now)
    }

    mutating func signedIn(
        _ id: Name, envelope: Envelope, at now: Instant
    ) {
        let takenError = user.takenError
        user.takenError = nil
        switch user.state {
        case .signingIn: break
        // The error that failed the sign-in was about something else, or the reply came after its time-out.
        case .failed where user.isAskedFor, .retrying where user.isAskedFor: break
        case .authorizing(let attempt, _) where user.isAskedFor:
            outputs.append(.command(.cancelUserAuthorization(attempt)))  // As above, with the next attempt under way.
        case .signedOut, .waiting, .authorizing, .signedIn, .retrying, .failed:
            outputs.append(.log(.signedInUnasked))
            return
        }
        let name = ChannelName(UserMachine.channel(ofUser: id))
        user.state = .signedIn(id: id, channel: name.name)
        user.isAwaited = false
        user.failures = 0
        user.reportedFailure = nil
        user.notBefore = nil
        outputs.append(.deliver(.event(envelope)))
        outputs.append(.deliver(.signedIn(userID: id)))
        if var lost = user.lostChannel, lost.name == name {
            // The user's events arrive from now on, whatever the server says about the channel.
            if let gap = lost.takeGap() { outputs.append(gap) }
            subscriptions[name.name] = lost
        } else {
            subscriptions.add(SubscriptionMachine(name: name, suppliedAuth: nil))
        }
        user.lostChannel = nil
        // The error was about a channel that had been requested by then.
        if let takenError { noteUnnamedRefusal(takenError, at: now) }
        begin(name.name, at: now)
        subscribeThoseThatAwaitUser(at: now)
    }

    /// Takes an error for the reply to a pending sign-in if it doesn't name its subject; returns whether it did. Errors about a
    /// watchlist that is too long (4302) or too many client events (4301) don't refuse a sign-in.
    mutating func attributeToSignIn(
        _ error: PusherError, _ envelope: Envelope, at now: Instant
    ) -> Bool {
        guard case .signingIn = user.state, envelope.channel == nil, error.mayBeRefusal else { return false }
        user.takenError = error
        signInFailed(error, at: now)
        return true
    }

    private mutating func signInFailed(
        _ error: PusherError, retryingAt time: Instant? = nil, at now: Instant
    ) {
        user.state = time.map { .retrying(at: $0) } ?? .failed
        let isRepeated = time != nil && !user.isAwaited && user.reportedFailure?.hasSameReason(as: error) == true
        user.isAwaited = false
        user.reportedFailure = error
        outputs.append(.log(.signInFailed(error, isRepeated: isRepeated)))
        if !isRepeated { outputs.append(.deliver(.signInFailed(error))) }
        if time == nil { subscribeThoseThatAwaitUser(at: now) }
    }

    mutating func signInDeadlineReached(at now: Instant) {
        guard let deadline = user.deadline, deadline <= now else { return }
        switch user.state {
        case .authorizing(let attempt, _):
            outputs.append(.command(.cancelUserAuthorization(attempt, unansweredFor: configuration.timeouts.authorization)))
            let problem = "no authorization of the user within \(configuration.timeouts.authorization)"
            authorizationOfUserFailed(PusherError(.timedOut, message: problem), at: now)
        case .signingIn where isReadingPaused:
            user.state = .signingIn(deadline: now + timeForUnreadReplies)
        case .signingIn:
            // Not retried: a server that doesn't reply may have no users.
            let problem = "the server did not answer the sign-in within \(configuration.timeouts.subscription)"
            signInFailed(PusherError(.timedOut, message: problem), at: now)
        case .retrying:
            user.state = .waiting
            beginSignIn(at: now)
        case .signedOut, .waiting, .signedIn, .failed:
            break
        }
    }

    /// Notes the loss of the connection. The next connection signs the user in again.
    ///
    /// - Parameter time: The time up to which everything that arrived is known to have been heard.
    mutating func userLost(at time: Instant) {
        if let channel = user.channel, var lost = subscriptions.remove(channel) {
            if let needless = lost.connectionLost(at: time, isHeard: true) {
                outputs.append(.command(.cancelAuthorization(needless)))
            }
            user.lostChannel = lost
        }
        if case .authorizing(let attempt, _) = user.state { outputs.append(.command(.cancelUserAuthorization(attempt))) }
        user.isAskedFor = false
        user.takenError = nil
        user.failures = 0
        if user.state != .signedOut { user.state = .waiting }
    }

    /// Fails the sign-in of waiting callers: there will be no connection until somebody asks for one.
    /// - Parameter reason: The reason why there is no connection; nil if the user asked for it.
    mutating func signInAbandoned(because reason: PusherError? = nil) {
        guard user.isAwaited else { return }
        user.isAwaited = false
        let problem =
            isShutDown ? "the client was shut down" : "the client is disconnected; the user is signed in with the next connect()"
        let error = reason ?? PusherError(.transport(.cancelled), message: problem)
        outputs.append(.log(.signInFailed(error, isRepeated: false)))
        outputs.append(.deliver(.signInFailed(error)))
    }

    // MARK: Watchlist

    mutating func watchlist(_ events: [WatchlistEvent]) {
        for event in events { outputs.append(.deliver(.watchlist(event))) }
    }
}
