/// The events of an encrypted channel that are still to be decrypted.
///
/// They are decrypted one after the other, so none overtakes another while a new key is fetched. Waiting events delay no other
/// channel.
struct EncryptedEvents: Equatable, Sendable {
    /// A number that distinguishes the result for one event from results for events of an earlier subscription.
    typealias Number = Int

    enum Stage: Equatable, Sendable {
        case idle
        case decrypting(Number, Envelope, withNewKey: Bool)
        /// The key didn't fit. The attempt is nil if the subscription was lost meanwhile: the next one brings a key.
        case awaitingKey(Envelope, SubscriptionAttempt?)
    }

    /// The pause after a new key that doesn't fit either. The event is broken then, and a flood of broken events must not become
    /// a flood of requests.
    private static let pauseAfterVainRefresh: Duration = .seconds(10)

    private(set) var stage = Stage.idle
    private var secret: SharedSecret?
    private var waiting = Deque<Envelope>()
    private var waitingBytes = 0
    /// How many of these were held for a replay, which is limited by itself.
    private var heldBytes = 0
    /// The time before which no new key is requested, as the last one didn't fit or couldn't be obtained.
    private var nextRefresh: Instant?
    /// A time that is not later than the arrival of any event that waits here or was turned away.
    private(set) var since = Instant.origin

    /// Appends an event that arrived after `receivedBefore`; returns false if too many are waiting already.
    ///
    /// The number of events is limited while a key is awaited, which may never arrive. Events that only have to be decrypted are
    /// limited in bytes, and the server is made to wait before that.
    mutating func append(
        _ envelope: Envelope, wasHeld: Bool, receivedBefore: Instant, limit: Int, byteLimit: Int
    ) -> Bool {
        if stage == .idle, waiting.isEmpty { since = receivedBefore }
        let hasPlace = if case .awaitingKey = stage { waiting.count < limit } else { true }
        // The first event may have any size, as it is decrypted at once.
        let heldBytes = heldBytes + (wasHeld ? envelope.size : 0)
        guard waiting.isEmpty || (hasPlace && waitingBytes + envelope.size <= byteLimit + heldBytes) else { return false }
        waiting.append(envelope)
        waitingBytes += envelope.size
        self.heldBytes = heldBytes
        return true
    }

    /// Returns whether more events wait than can be decrypted soon, as the decrypting thread is busy with something else.
    func isOver(byteLimit: Int) -> Bool {
        guard case .decrypting = stage else { return false }
        return waitingBytes > byteLimit / 2
    }

    /// Indicates whether every event was decrypted or given up.
    var isEmpty: Bool { stage == .idle && waiting.isEmpty }

    /// Starts decrypting the first waiting event, if nothing is in its way.
    mutating func beginDecrypting(_ number: Number) -> (Envelope, SharedSecret)? {
        guard stage == .idle, let secret, let envelope = waiting.popFirst() else { return nil }
        waitingBytes -= envelope.size
        heldBytes = max(heldBytes - envelope.size, 0)
        stage = .decrypting(number, envelope, withNewKey: false)
        return (envelope, secret)
    }

    /// Notes that the event with this number was decrypted or given up.
    mutating func finish(_ number: Number) {
        guard case .decrypting(number, _, _) = stage else { return }
        stage = .idle
    }

    // MARK: The key

    /// Returns whether it makes sense to fetch a new key for an event that can't be decrypted.
    func shouldRefreshKey(at now: Instant) -> Bool {
        guard case .decrypting(_, _, withNewKey: false) = stage else { return false }
        return nextRefresh.map { now >= $0 } ?? true
    }

    mutating func awaitKey(_ attempt: SubscriptionAttempt?, at now: Instant) {
        guard case .decrypting(_, let envelope, _) = stage else { return }
        nextRefresh = now + Self.pauseAfterVainRefresh
        stage = .awaitingKey(envelope, attempt)
    }

    var refresh: SubscriptionAttempt? {
        if case .awaitingKey(_, let attempt) = stage { attempt } else { nil }
    }

    /// Stores a key; returns the event that waited for it, to be decrypted again.
    mutating func use(_ secret: SharedSecret, _ number: Number) -> (Envelope, SharedSecret)? {
        self.secret = secret
        guard case .awaitingKey(let envelope, _) = stage else { return nil }
        stage = .decrypting(number, envelope, withNewKey: true)
        return (envelope, secret)
    }

    /// Changes the events in place.
    mutating func change<Result>(_ body: (inout Self) -> Result) -> Result { body(&self) }

    /// Indicates whether an event waits for the key of the next subscription.
    var awaitsSubscription: Bool { if case .awaitingKey(_, nil) = stage { true } else { false } }

    /// Notes that the key is requested separately, as the channel was subscribed without one that came in time.
    mutating func askForKey(_ attempt: SubscriptionAttempt) {
        guard case .awaitingKey(let envelope, nil) = stage else { return }
        stage = .awaitingKey(envelope, attempt)
    }

    /// Notes that the new key fits.
    mutating func keyFits() {
        nextRefresh = nil
    }

    /// Gives up and returns the event that waited for a new key, as there is none.
    /// - Parameter retryAfter: The pause that the authorizer asks for.
    mutating func keyRefused(at now: Instant, retryAfter: Duration?) -> Envelope? {
        guard case .awaitingKey(let envelope, _) = stage else { return nil }
        nextRefresh = now + max(Self.pauseAfterVainRefresh, retryAfter ?? .zero)
        stage = .idle
        return envelope
    }

    /// Prepares for another connection to take over. It decrypts the current event again, with the key that the next subscription
    /// brings.
    mutating func moved() {
        if case .decrypting(_, let envelope, _) = stage { stage = .awaitingKey(envelope, nil) }
    }

    /// Waits for the key of the next subscription; returns the key request that is no longer needed.
    mutating func subscriptionLost() -> SubscriptionAttempt? {
        guard case .awaitingKey(let envelope, let attempt) = stage else { return nil }
        stage = .awaitingKey(envelope, nil)
        return attempt
    }
}
