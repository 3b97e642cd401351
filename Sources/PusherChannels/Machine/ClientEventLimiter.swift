/// Keeps to the number of client events that a server lets a connection send in a second.
struct ClientEventLimiter: Equatable, Sendable {
    private static let window: Duration = .seconds(1)

    let perSecond: Int?
    private var sent: [Instant] = []

    init(perSecond: Int?) {
        self.perSecond = perSecond
    }

    /// Returns whether an event may be sent now; counts it if so.
    mutating func allows(at now: Instant) -> Bool {
        guard let perSecond else { return true }
        sent.removeAll { now - $0 >= Self.window }
        guard sent.count < perSecond else { return false }
        sent.append(now)
        return true
    }

    /// When the next event may be sent, after one wasn't allowed.
    var nextChance: Instant? {
        sent.first.map { $0 + Self.window }
    }

    /// A new connection is counted anew.
    mutating func reset() {
        sent = []
    }
}
