/// The rules for the delay before the next connection attempt.
struct Backoff: Equatable, Sendable {
    /// The number of times that a server may ask for an immediate return within ``window`` before it is treated as overloaded. A
    /// restarting server asks all its clients to come back at once.
    private static let immediateReturns = 3
    private static let window: Duration = .seconds(60)

    var policy: ReconnectPolicy
    private var random: SplitMix64
    private var immediates: [Instant] = []
    /// The number of consecutive attempts that led to no stable connection.
    var failures = 0

    init(policy: ReconnectPolicy, seed: UInt64) {
        self.policy = policy
        random = SplitMix64(seed: seed)
    }

    /// Notes the end of a connection. One that lasted makes the next delays short again.
    mutating func connectionEnded(after lifetime: Duration) {
        if lifetime >= policy.stableAfter { failures = 0 }
    }

    /// Starts from the beginning, because somebody asked for a connection.
    mutating func reset() {
        failures = 0
        immediates = []
    }

    /// Indicates whether the policy allows no more attempts.
    private var isExhausted: Bool { policy.maximumRetries.map { failures >= $0 } ?? false }

    /// Returns the delay before the next attempt; nil if there is to be none.
    mutating func nextDelay(atLeast minimum: Duration) -> Duration? {
        if isExhausted { return nil }
        let exponential = ExponentialDelay(initial: policy.initialDelay, maximum: policy.maximumDelay)
        defer { failures += 1 }
        // Added to the minimum: if smaller draws were only raised to it, many clients would return at the same time.
        return minimum + exponential.delay(afterFailures: failures, using: &random)
    }

    /// Returns whether the policy allows another attempt and an immediate return is still believed; counts it if so.
    mutating func allowsImmediateReturn(at now: Instant) -> Bool {
        if isExhausted { return false }
        immediates.removeAll { now - $0 >= Self.window }
        guard immediates.count < Self.immediateReturns else { return false }
        immediates.append(now)
        return true
    }
}
