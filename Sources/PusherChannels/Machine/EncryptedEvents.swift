/// The events of an encrypted channel on their way to being readable.
///
/// They are opened one after the other, so that none overtakes another while a new key is fetched. Those that wait delay no
/// other channel.
struct EncryptedEvents: Equatable, Sendable {
    /// Tells the result for one event from results for events of an earlier subscription.
    typealias Number = Int

    enum Stage: Equatable, Sendable {
        case idle
        case decrypting(Number, Envelope, withNewKey: Bool)
        /// The key didn't fit. The attempt is nil when the subscription was lost meanwhile: the next one brings a key.
        case awaitingKey(Envelope, SubscriptionAttempt?)
    }

    /// A key that is fetched anew and still doesn't fit says that the event is broken; a flood of broken events must not become a
    /// flood of requests.
    private static let pauseAfterVainRefresh: Duration = .seconds(10)

    private(set) var stage = Stage.idle
    private var secret: SharedSecret?
    private var waiting = Deque<Envelope>()
    private var waitingBytes = 0
    /// The time before which no new key is asked for: the one that was asked for didn't fit, or wasn't had.
    private var nextRefresh: Instant?
    /// No event that waits here, or was turned away, came before this time.
    private(set) var since = Instant.origin

    /// Puts an event at the end; false when too many wait already. All that came before `heardBefore` was heard before.
    ///
    /// The number counts while a key is awaited, which may never come. Events that only have to be opened are bounded in bytes, and the
    /// server waits before.
    mutating func append(_ envelope: Envelope, heardBefore: Instant, limit: Int, byteLimit: Int) -> Bool {
        if stage == .idle, waiting.isEmpty { since = heardBefore }
        let hasPlace = if case .awaitingKey = stage { waiting.count < limit } else { true }
        // The first may have any size: it is opened at once.
        guard waiting.isEmpty || (hasPlace && waitingBytes + envelope.size <= byteLimit) else { return false }
        waiting.append(envelope)
        waitingBytes += envelope.size
        return true
    }

    /// Indicates whether more events wait than are soon opened: the thread that opens them is busy with something else.
    func isOver(byteLimit: Int) -> Bool {
        guard case .decrypting = stage else { return false }
        return waitingBytes > byteLimit / 2
    }

    /// Indicates whether all that came was opened, or given up.
    var isEmpty: Bool { stage == .idle && waiting.isEmpty }

    /// Takes the first event that waits, if nothing is in its way.
    mutating func beginDecrypting(_ number: Number) -> (Envelope, SharedSecret)? {
        guard stage == .idle, let secret, let envelope = waiting.popFirst() else { return nil }
        waitingBytes -= envelope.size
        stage = .decrypting(number, envelope, withNewKey: false)
        return (envelope, secret)
    }

    /// The event with this number was opened, or given up.
    mutating func finish(_ number: Number) {
        guard case .decrypting(number, _, _) = stage else { return }
        stage = .idle
    }

    // MARK: The key

    /// Returns whether it makes sense to fetch the key for an event that can't be opened.
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

    /// Takes over a key; the event that waited for it is opened again.
    mutating func use(_ secret: SharedSecret, _ number: Number) -> (Envelope, SharedSecret)? {
        self.secret = secret
        guard case .awaitingKey(let envelope, _) = stage else { return nil }
        stage = .decrypting(number, envelope, withNewKey: true)
        return (envelope, secret)
    }

    /// Changes it where it is.
    mutating func change<Result>(_ body: (inout Self) -> Result) -> Result { body(&self) }

    /// Indicates whether the next subscription was to bring a key.
    var awaitsSubscription: Bool { if case .awaitingKey(_, nil) = stage { true } else { false } }

    /// The subscription is there without a key that came in time: it is asked for on its own.
    mutating func askForKey(_ attempt: SubscriptionAttempt) {
        guard case .awaitingKey(let envelope, nil) = stage else { return }
        stage = .awaitingKey(envelope, attempt)
    }

    /// The key did fit after all.
    mutating func keyFits() {
        nextRefresh = nil
    }

    /// There is no new key: gives up the event that waited for it.
    /// - Parameter retryAfter: The time for which the authorizer asks to be left alone.
    mutating func keyRefused(at now: Instant, retryAfter: Duration?) -> Envelope? {
        guard case .awaitingKey(let envelope, _) = stage else { return nil }
        nextRefresh = now + max(Self.pauseAfterVainRefresh, retryAfter ?? .zero)
        stage = .idle
        return envelope
    }

    /// Another connection takes over: what is being opened here is opened there, with the key that the next subscription brings.
    mutating func handedOver() {
        if case .decrypting(_, let envelope, _) = stage { stage = .awaitingKey(envelope, nil) }
    }

    /// The next subscription brings a key; gives back the question that needs no answer any more.
    mutating func subscriptionLost() -> SubscriptionAttempt? {
        guard case .awaitingKey(let envelope, let attempt) = stage else { return nil }
        stage = .awaitingKey(envelope, nil)
        return attempt
    }
}
