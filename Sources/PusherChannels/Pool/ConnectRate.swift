/// The rate of a pool's attempts to connect, which keeps a server that lost all connections from getting all attempts at once.
struct ConnectRate {
    /// The average time between two attempts.
    let interval: Duration

    init(attemptsPerSecond: Double) {
        let isUsable = attemptsPerSecond.isFinite && attemptsPerSecond > 0
        interval = .seconds(1 / min(max(isUsable ? attemptsPerSecond : 20, 0.001), 1_000_000))
    }

    /// Returns the policy, stretched to bring this many connections back at this rate when they are lost together: each waits for
    /// a random time of up to as long as all of them take.
    func policy(_ policy: ReconnectPolicy, for connections: Int) -> ReconnectPolicy {
        var policy = policy
        policy.initialDelay = max(policy.initialDelay, interval * connections)
        policy.maximumDelay = max(policy.maximumDelay, policy.initialDelay)
        policy.spreadsSilentOnes = connections > 1
        return policy
    }
}
