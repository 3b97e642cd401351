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

    mutating func encryptedEvent(_ envelope: Envelope, of channel: Name, wasHeld: Bool = false) {
        let (limit, byteLimit) = (configuration.encryptedEventLimit, configuration.encryptedEventByteLimit)
        let time = session.receivedBefore ?? .origin
        let wasOver = isOver(channel)
        let hasRoom = subscriptions[channel]?.encryptedEvents?.append(
            envelope, wasHeld: wasHeld, receivedBefore: time, limit: limit, byteLimit: byteLimit)
        guard hasRoom == true else {
            let problem = "\(limit) events of \(channel), or \(byteLimit) bytes, wait to be decrypted already"
            return decryptionFailed(envelope, of: channel, problem)
        }
        if !wasOver { noteIfOver(channel) }
        openNext(of: channel)
    }

    /// Makes the server wait if too many events of a channel wait to be decrypted, now that nothing else is in their way.
    private mutating func noteIfOver(_ channel: Name) {
        guard isOver(channel) else { return }
        // Some channels may have been given up meanwhile.
        decryption.crowded = decryption.crowded.filter { isOver($0) }
        decryption.crowded.insert(channel)
    }

    /// Indicates whether the server has to wait, as events pile up because the decrypting thread is busy.
    @inline(__always)
    var isOverWithDecrypting: Bool {
        // Each change asks for it, and a call or a closure would copy the machine.
        for channel in decryption.crowded where isOver(channel) { return true }
        return false
    }

    @inline(__always)
    private func isOver(_ channel: Name) -> Bool {
        subscriptions[channel]?.encryptedEvents?.isOver(byteLimit: configuration.encryptedEventByteLimit) == true
    }

    mutating func opened(
        _ event: EncryptedEvent, _ result: Result<String, DecryptionFailure>, at now: Instant
    ) {
        guard
            case .decrypting(event.number, let envelope, let withNewKey) = changeEncryptedEvents(of: event.channel, { $0.stage })
        else { return }
        switch result {
        case .success(let data):
            outputs.append(.deliver(.event(envelope.with(data: data))))
            if withNewKey { changeEncryptedEvents(of: event.channel) { $0.keyFits() } }
        case .failure(.wrongKey) where subscriptions[event.channel]?.encryptedEvents?.shouldRefreshKey(at: now) == true:
            return refreshKey(of: event.channel, at: now)
        case .failure(.wrongKey):
            decryptionFailed(envelope, of: event.channel, "the key doesn't fit")
        case .failure(.malformed(let problem)):
            decryptionFailed(envelope, of: event.channel, problem)
        }
        changeEncryptedEvents(of: event.channel) { $0.finish(event.number) }
        openNext(of: event.channel)
    }

    private mutating func openNext(of channel: Name) {
        if decryption.lastEvents[channel]?.isEmpty == true { decryption.lastEvents[channel] = nil }
        if !decryption.crowded.isEmpty, !isOver(channel) { decryption.crowded.remove(channel) }
        let number = decryption.nextNumber()
        guard let (envelope, secret) = changeEncryptedEvents(of: channel, { $0.beginDecrypting(number) }) ?? nil else { return }
        open(envelope, of: channel, with: secret)
    }

    private mutating func open(_ envelope: Envelope, of channel: Name, with secret: SharedSecret) {
        outputs.append(
            .command(.decrypt(EncryptedEvent(channel: channel, number: decryption.number, data: envelope.data), secret)))
    }

    @discardableResult
    private mutating func changeEncryptedEvents<Result>(of channel: Name, _ body: (inout EncryptedEvents) -> Result) -> Result? {
        if !decryption.lastEvents.isEmpty, let result = decryption.lastEvents[channel]?.change(body) { return result }
        return subscriptions[channel]?.encryptedEvents?.change(body)
    }

    /// Returns the time after which the events being decrypted arrived.
    func encryptedEventsSince(of channel: Name) -> Instant? {
        (decryption.lastEvents[channel] ?? subscriptions[channel]?.encryptedEvents)?.since
    }

    /// Gives up the channels, but keeps the encrypted events that were read. They are decrypted with the keys at hand.
    mutating func unsubscribeAllButRead(at now: Instant) {
        for subscription in subscriptions.all where decryption.lastEvents[subscription.channel] == nil {
            if let events = subscription.encryptedEvents, !events.isEmpty { decryption.lastEvents[subscription.channel] = events }
        }
        unsubscribeAll()
        for channel in decryption.lastEvents.keys.sorted() {
            keyRefused(channel, "the client was shut down", at: now)
        }
    }

    // MARK: The key

    /// Uses the channel's key from a subscription's authorization or from a refresh.
    mutating func useKey(_ auth: PusherAuth, of channel: Name) {
        guard let secret = auth.sharedSecret.map(SharedSecret.init) else { return }
        let number = decryption.nextNumber()
        if let (envelope, secret) = subscriptions[channel]?.encryptedEvents?.use(secret, number) {
            open(envelope, of: channel, with: secret)
            noteIfOver(channel)
        }
    }

    /// Handles the response to a key refresh; returns false if this isn't one.
    mutating func keyRefreshed(
        _ attempt: SubscriptionAttempt, _ result: Result<PusherAuth, AuthorizationFailure>, at now: Instant
    ) -> Bool {
        guard subscriptions[attempt.channel]?.encryptedEvents?.refresh == attempt else { return false }
        switch result {
        case .success(let auth) where auth.sharedSecret != nil: useKey(auth, of: attempt.channel)
        case .success: keyRefused(attempt.channel, "the new authorization has no shared_secret", at: now)
        case .failure(let failure):
            keyRefused(attempt.channel, failure.message, retryAfter: failure.error.retryAfter, at: now)
        }
        return true
    }

    mutating func keyRefused(
        _ channel: Name, _ problem: String, retryAfter: Duration? = nil, at now: Instant
    ) {
        guard let envelope = changeEncryptedEvents(of: channel, { $0.keyRefused(at: now, retryAfter: retryAfter) }) ?? nil
        else { return }
        decryptionFailed(envelope, of: channel, "there is no new key: \(problem)")
        openNext(of: channel)
        noteIfOver(channel)
    }

    private mutating func refreshKey(of channel: Name, at now: Instant) {
        guard socketID != nil, subscriptions[channel]?.isSubscribed == true else {
            // The next subscription brings the key.
            subscriptions[channel]?.encryptedEvents?.awaitKey(nil, at: now)
            return
        }
        let attempt = subscriptions.nextAttempt(for: channel, on: attempt)
        subscriptions[channel]?.encryptedEvents?.awaitKey(attempt, at: now)
        askInTurn(attempt, at: now)
    }

    /// Requests the key that an event still waits for after its channel was subscribed. Either the subscription's key didn't fit
    /// before the success arrived, or the success arrived before the key.
    mutating func askForAwaitedKey(of channel: Name, at now: Instant) {
        guard let subscription = subscriptions[channel], subscription.isSubscribed,
            subscription.encryptedEvents?.awaitsSubscription == true
        else { return }
        let attempt = subscriptions.nextAttempt(for: channel, on: attempt)
        subscriptions[channel]?.encryptedEvents?.askForKey(attempt)
        askInTurn(attempt, at: now)
    }

    private mutating func decryptionFailed(
        _ envelope: Envelope, of channel: Name, _ problem: String
    ) {
        outputs.append(.log(.notDecrypted(envelope.event, channel: channel, problem: problem)))
        let since = changeEncryptedEvents(of: channel, { $0.since }) ?? .origin
        outputs.append(.deliver(.decryptionFailed(channel: channel, event: envelope.event, data: envelope.data, since: since)))
    }
}
