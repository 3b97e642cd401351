/// The time that a pool takes for its attempts to connect, so that a server which lost them all isn't asked by all of them at once.
struct ConnectRate {
    /// The time between two attempts, on average.
    let interval: Duration

    init(attemptsPerSecond: Double) {
        let isUsable = attemptsPerSecond.isFinite && attemptsPerSecond > 0
        interval = .seconds(1 / min(max(isUsable ? attemptsPerSecond : 20, 0.001), 1_000_000))
    }

    /// Stretches a policy so that so many connections that are lost together come back at this rate: each waits for a random time of up to as
    /// long as all of them take.
    func policy(_ policy: ReconnectPolicy, for connections: Int) -> ReconnectPolicy {
        var policy = policy
        policy.initialDelay = max(policy.initialDelay, interval * connections)
        policy.maximumDelay = max(policy.maximumDelay, policy.initialDelay)
        policy.spreadsSilentOnes = connections > 1
        return policy
    }
}
