/// Events of encrypted channels. They are decrypted in order, and the key is fetched again if it doesn't fit.
extension ConnectionMachine {
    /// An event whose data is to be decrypted.
    struct EncryptedEvent: Equatable, Sendable {
        let channel: Name
        let number: EncryptedEvents.Number
        let data: String?
    }

    enum DecryptionFailure: Error, Equatable, Sendable {
        /// The key doesn't fit; another one may.
        case wrongKey
        /// The data isn't valid encrypted data, whatever the key.
        case malformed(String)
    }

    mutating func encryptedEvent(_ envelope: Envelope, of channel: Name, into effects: inout [Effect]) {
        let (limit, byteLimit) = (configuration.encryptedEventLimit, configuration.encryptedEventByteLimit)
        let time = heardBefore ?? .origin
        let wasOver = isOver(channel)
        let hasRoom = subscriptions[channel]?.encryptedEvents?.append(
            envelope, heardBefore: time, limit: limit, byteLimit: byteLimit)
        guard hasRoom == true else {
            let problem = "\(limit) events of \(channel), or \(byteLimit) bytes, wait to be decrypted already"
            return decryptionFailed(envelope, of: channel, problem, into: &effects)
        }
        if !wasOver { noteIfOver(channel) }
        openNext(of: channel, into: &effects)
    }

    /// Makes the server wait if too many events of a channel wait to be decrypted, now that nothing else is in their way.
    private mutating func noteIfOver(_ channel: Name) {
        guard isOver(channel) else { return }
        // Some channels may have been given up meanwhile.
        channelsToDecrypt = channelsToDecrypt.filter { isOver($0) }
        channelsToDecrypt.insert(channel)
    }

    /// Indicates whether the server has to wait, as events pile up because the decrypting thread is busy.
    var isOverWithDecrypting: Bool { channelsToDecrypt.contains { isOver($0) } }

    private func isOver(_ channel: Name) -> Bool {
        subscriptions[channel]?.encryptedEvents?.isOver(byteLimit: configuration.encryptedEventByteLimit) == true
    }

    mutating func opened(
        _ event: EncryptedEvent, _ result: Result<String, DecryptionFailure>, at now: Instant, into effects: inout [Effect]
    ) {
        guard
            case .decrypting(event.number, let envelope, let withNewKey) = changeEncryptedEvents(of: event.channel, { $0.stage })
        else { return }
        switch result {
        case .success(let data):
            effects.append(.deliver(.event(envelope.with(data: data))))
            if withNewKey { changeEncryptedEvents(of: event.channel) { $0.keyFits() } }
        case .failure(.wrongKey) where subscriptions[event.channel]?.encryptedEvents?.shouldRefreshKey(at: now) == true:
            return refreshKey(of: event.channel, at: now, into: &effects)
        case .failure(.wrongKey):
            decryptionFailed(envelope, of: event.channel, "the key doesn't fit", into: &effects)
        case .failure(.malformed(let problem)):
            decryptionFailed(envelope, of: event.channel, problem, into: &effects)
        }
        changeEncryptedEvents(of: event.channel) { $0.finish(event.number) }
        openNext(of: event.channel, into: &effects)
    }

    private mutating func openNext(of channel: Name, into effects: inout [Effect]) {
        if lastEncryptedEvents[channel]?.isEmpty == true { lastEncryptedEvents[channel] = nil }
        if !channelsToDecrypt.isEmpty, !isOver(channel) { channelsToDecrypt.remove(channel) }
        encryptedEventsNumbered += 1
        let number = encryptedEventsNumbered
        guard let (envelope, secret) = changeEncryptedEvents(of: channel, { $0.beginDecrypting(number) }) ?? nil else { return }
        open(envelope, of: channel, with: secret, into: &effects)
    }

    private func open(_ envelope: Envelope, of channel: Name, with secret: SharedSecret, into effects: inout [Effect]) {
        effects.append(
            .decrypt(EncryptedEvent(channel: channel, number: encryptedEventsNumbered, data: envelope.data), secret))
    }

    @discardableResult
    private mutating func changeEncryptedEvents<Result>(of channel: Name, _ body: (inout EncryptedEvents) -> Result) -> Result? {
        if !lastEncryptedEvents.isEmpty, let result = lastEncryptedEvents[channel]?.change(body) { return result }
        return subscriptions[channel]?.encryptedEvents?.change(body)
    }

    /// Returns the time after which the events being decrypted arrived.
    func encryptedEventsSince(of channel: Name) -> Instant? {
        (lastEncryptedEvents[channel] ?? subscriptions[channel]?.encryptedEvents)?.since
    }

    /// Gives up the channels, but keeps the encrypted events that were read. They are decrypted with the keys at hand.
    mutating func unsubscribeAllButRead(at now: Instant, into effects: inout [Effect]) {
        for subscription in subscriptions.all where lastEncryptedEvents[subscription.channel] == nil {
            if let events = subscription.encryptedEvents, !events.isEmpty { lastEncryptedEvents[subscription.channel] = events }
        }
        unsubscribeAll(into: &effects)
        for channel in lastEncryptedEvents.keys.sorted() {
            keyRefused(channel, "the client was shut down", at: now, into: &effects)
        }
    }

    // MARK: The key

    /// Uses the channel's key from a subscription's authorization or from a refresh.
    mutating func useKey(_ auth: PusherAuth, of channel: Name, into effects: inout [Effect]) {
        guard let secret = auth.sharedSecret.map(SharedSecret.init) else { return }
        encryptedEventsNumbered += 1
        if let (envelope, secret) = subscriptions[channel]?.encryptedEvents?.use(secret, encryptedEventsNumbered) {
            open(envelope, of: channel, with: secret, into: &effects)
            noteIfOver(channel)
        }
    }

    /// Handles the response to a key refresh; returns false if this isn't one.
    mutating func keyRefreshed(
        _ attempt: SubscriptionAttempt, _ result: Result<PusherAuth, AuthorizationFailure>, at now: Instant,
        into effects: inout [Effect]
    ) -> Bool {
        guard subscriptions[attempt.channel]?.encryptedEvents?.refresh == attempt else { return false }
        switch result {
        case .success(let auth) where auth.sharedSecret != nil: useKey(auth, of: attempt.channel, into: &effects)
        case .success: keyRefused(attempt.channel, "the new authorization has no shared_secret", at: now, into: &effects)
        case .failure(let failure):
            keyRefused(attempt.channel, failure.message, retryAfter: failure.error.retryAfter, at: now, into: &effects)
        }
        return true
    }

    mutating func keyRefused(
        _ channel: Name, _ problem: String, retryAfter: Duration? = nil, at now: Instant, into effects: inout [Effect]
    ) {
        guard let envelope = changeEncryptedEvents(of: channel, { $0.keyRefused(at: now, retryAfter: retryAfter) }) ?? nil
        else { return }
        decryptionFailed(envelope, of: channel, "there is no new key: \(problem)", into: &effects)
        openNext(of: channel, into: &effects)
        noteIfOver(channel)
    }

    private mutating func refreshKey(of channel: Name, at now: Instant, into effects: inout [Effect]) {
        guard socketID != nil, subscriptions[channel]?.isSubscribed == true else {
            // The next subscription brings the key.
            subscriptions[channel]?.encryptedEvents?.awaitKey(nil, at: now)
            return
        }
        let attempt = nextSubscriptionAttempt(for: channel)
        subscriptions[channel]?.encryptedEvents?.awaitKey(attempt, at: now)
        askInTurn(attempt, at: now, into: &effects)
    }

    /// Requests the key that an event still waits for after its channel was subscribed. Either the subscription's key didn't fit
    /// before the success arrived, or the success arrived before the key.
    mutating func askForAwaitedKey(of channel: Name, at now: Instant, into effects: inout [Effect]) {
        guard let subscription = subscriptions[channel], subscription.isSubscribed,
            subscription.encryptedEvents?.awaitsSubscription == true
        else { return }
        let attempt = nextSubscriptionAttempt(for: channel)
        subscriptions[channel]?.encryptedEvents?.askForKey(attempt)
        askInTurn(attempt, at: now, into: &effects)
    }

    private mutating func decryptionFailed(
        _ envelope: Envelope, of channel: Name, _ problem: String, into effects: inout [Effect]
    ) {
        effects.append(.log(.notDecrypted(envelope.event, channel: channel, problem: problem)))
        let since = changeEncryptedEvents(of: channel, { $0.since }) ?? .origin
        effects.append(
            .deliver(.decryptionFailed(channel: channel, event: envelope.event, data: envelope.data, since: since)))
    }
}
