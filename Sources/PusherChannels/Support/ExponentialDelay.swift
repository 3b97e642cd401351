/// A delay that doubles with every failure, with full jitter: it is drawn evenly from zero to the bound, so clients that failed
/// together don't come back together.
struct ExponentialDelay: Equatable, Sendable {
    private let initial: Duration
    private let maximum: Duration

    init(initial: Duration, maximum: Duration) {
        self.initial = initial.asWait
        self.maximum = maximum.asWait
    }

    func delay(afterFailures failures: Int, using random: inout SplitMix64) -> Duration {
        let bound = min(initial * (1 << min(failures, 30)), maximum)
        return bound * Double.random(in: 0..<1, using: &random)
    }
}
