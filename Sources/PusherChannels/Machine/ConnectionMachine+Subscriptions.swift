/// The channels that the user wants.
extension ConnectionMachine {
    mutating func subscribe(_ channel: String, auth: PusherAuth?, at now: MonotonicTime, into effects: inout [Effect]) {
        let name = ChannelName(channel)
        if let problem = name.problem ?? name.unsupported {
            let failure = SubscriptionFailure(error: PusherError(.invalidRequest, message: problem))
            failure.report(channel: channel, into: &effects)
            return
        }
        if let known = subscriptions[channel] {
            guard case .failed = known.state else { return }
            if let auth { subscriptions[channel]?.suppliedAuth = auth }
        } else {
            subscriptions[channel] = SubscriptionMachine(name: name, ordinal: subscriptionsMade, suppliedAuth: auth)
            subscriptionsMade += 1
        }
        begin(channel, at: now, into: &effects)
    }

    mutating func beginSubscriptions(at now: MonotonicTime, into effects: inout [Effect]) {
        for subscription in subscriptions.values.sorted(by: { $0.ordinal < $1.ordinal }) {
            begin(subscription.name.text, at: now, into: &effects)
        }
    }

    /// Starts on a channel if there is a connection to do it on.
    private mutating func begin(_ channel: String, at now: MonotonicTime, into effects: inout [Effect]) {
        guard let socketID else { return }
        subscriptionGeneration += 1
        let attempt = SubscriptionAttempt(channel: channel, connection: self.attempt, generation: subscriptionGeneration)
        subscriptions[channel]?.begin(attempt, socketID: socketID, into: &effects)
        setDeadline(for: channel, at: now)
    }

    mutating func authorised(
        _ attempt: SubscriptionAttempt, _ result: Result<PusherAuth, AuthorisationFailure>, at now: MonotonicTime,
        into effects: inout [Effect]
    ) {
        guard subscriptions[attempt.channel]?.state == .authorising(attempt) else {
            effects.append(.log(.debug, "stale authorisation for \(attempt.channel), dropped"))
            return
        }
        subscriptions[attempt.channel]?.authorised(result, into: &effects)
        setDeadline(for: attempt.channel, at: now)
    }

    mutating func subscriptionRefused(_ channel: String, _ failure: SubscriptionFailure, into effects: inout [Effect]) {
        guard subscriptions[channel]?.acceptsEvents == true else { return }
        subscriptions[channel]?.fail(failure, into: &effects)
    }

    mutating func unsubscribe(_ channel: String, into effects: inout [Effect]) {
        subscriptions.removeValue(forKey: channel)?.abandon(into: &effects)
    }

    mutating func unsubscribeAll(into effects: inout [Effect]) {
        for subscription in subscriptions.values.sorted(by: { $0.ordinal < $1.ordinal }) {
            unsubscribe(subscription.name.text, into: &effects)
        }
    }

    mutating func subscriptionsLost(into effects: inout [Effect]) {
        for channel in subscriptions.keys.sorted() {
            subscriptions[channel]?.connectionLost(into: &effects)
        }
    }

    /// Sends a client event, queues it until its channel is subscribed, or says why not.
    @discardableResult
    mutating func trigger(_ event: ClientEvent, into effects: inout [Effect]) -> TriggerResult {
        func refused(_ problem: String) -> TriggerResult {
            .refused(PusherError(.invalidRequest, message: problem))
        }
        guard event.name.hasPrefix("client-") else {
            return refused("\(event.name) can't be triggered by a client: the name must begin with client-")
        }
        guard ChannelName(event.channel).allowsClientEvents else {
            return refused("\(event.channel) takes no client events: only private and presence channels do")
        }
        guard subscriptions[event.channel] != nil else {
            return refused("\(event.channel) is not subscribed to")
        }
        return subscriptions[event.channel]?.trigger(event, queueLimit: configuration.unsentEventLimit, into: &effects)
            ?? refused("\(event.channel) is not subscribed to")
    }
}

extension ChannelName {
    fileprivate var unsupported: String? {
        kind == .encrypted ? "encrypted channels are not supported yet: \(text) is one" : nil
    }
}
