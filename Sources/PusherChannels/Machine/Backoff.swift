/// Decides how long to wait before the next connection attempt.
struct Backoff: Equatable, Sendable {
    /// The number of times that a server may ask for an immediate return within ``window`` before it is treated as overloaded: a restarting
    /// server says "come back at once" to everybody.
    private static let immediateReturns = 3
    private static let window: Duration = .seconds(60)

    var policy: ReconnectPolicy
    private var random: SplitMix64
    private var immediates: [Instant] = []
    /// Attempts in a row that led to no stable connection.
    private(set) var failures = 0

    init(policy: ReconnectPolicy, seed: UInt64) {
        self.policy = policy
        random = SplitMix64(seed: seed)
    }

    /// The connection is over; one that lasted makes the next delays short again.
    mutating func connectionEnded(after lifetime: Duration) {
        if lifetime >= policy.stableAfter { failures = 0 }
    }

    /// Somebody asked for a connection: start from the beginning.
    mutating func reset() {
        failures = 0
        immediates = []
    }

    /// Indicates whether the policy allows no more attempts.
    private var isExhausted: Bool { policy.maximumRetries.map { failures >= $0 } ?? false }

    /// The delay before the next attempt; nil when there shall be none.
    mutating func nextDelay(atLeast minimum: Duration) -> Duration? {
        if isExhausted { return nil }
        let exponential = ExponentialDelay(initial: policy.initialDelay, maximum: policy.maximumDelay)
        defer { failures += 1 }
        // On top: what is drawn below the least would be one time for all clients.
        return minimum + exponential.delay(afterFailures: failures, using: &random)
    }

    /// Returns whether an immediate return is still believed, and any return is allowed; counts it if so.
    mutating func allowsImmediateReturn(at now: Instant) -> Bool {
        if isExhausted { return false }
        immediates.removeAll { now - $0 >= Self.window }
        guard immediates.count < Self.immediateReturns else { return false }
        immediates.append(now)
        return true
    }
}
