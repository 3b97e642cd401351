/// A fault that a client and its server go through: a row of the page "Under fire".
struct Scenario: Sendable {
    /// The expected outcome for the connection.
    enum Outcome: Sendable {
        /// The connection stays open, and nothing is lost.
        case stays
        /// The connection is lost and re-established.
        case isRemade
    }

    /// The name, as on the page.
    let name: String
    let outcome: Outcome
    let ways: [Site.Way]
    /// Indicates whether the client runs as another user if this program runs as root.
    let asOtherUser: Bool
    /// Indicates whether the client keeps a copy of what a backend has, which must lack nothing.
    let isFollowed: Bool
    /// Makes the scenario happen, and returns when it is over.
    let happen: @Sendable (Site) async throws -> Void

    init(
        _ name: String, _ outcome: Outcome = .isRemade, ways: [Site.Way] = Site.Way.allCases, asOtherUser: Bool = false,
        isFollowed: Bool = false, happen: @escaping @Sendable (Site) async throws -> Void
    ) {
        self.name = name
        self.outcome = outcome
        self.ways = ways
        self.asOtherUser = asOtherUser
        self.isFollowed = isFollowed
        self.happen = happen
    }

    /// The scenarios that impose no limits on the client's own process.
    static let outside = processes + networks + surroundings
    static let all = outside + shortages
}

extension Site {
    /// Makes a scenario happen, and returns the time from its end until the client received, on every channel, an event sent
    /// after it. If the connection is lost, only the next connection's events count.
    func goThrough(_ scenario: Scenario) async throws -> Duration {
        let before = await feed.state.heard.count
        try await scenario.happen(self)
        let clock = ContinuousClock()
        let end = clock.now
        if scenario.outcome == .isRemade {
            await feed.wait { $0.heard.dropFirst(before).contains(.state("connecting")) }
        }
        let number = await feed.state.ledger.nextNumber
        await feed.wait { $0.ledger.hasReached(number) }
        return clock.now - end
    }
}
