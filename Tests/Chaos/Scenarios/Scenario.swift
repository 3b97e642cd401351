/// Something that happens to a client and its server: a row of the page "Under fire".
struct Scenario: Sendable {
    /// The fate of the connection.
    enum Outcome: Sendable {
        /// It stays, and nothing is lost.
        case stays
        /// It is lost, and made anew.
        case isRemade
    }

    /// As the page says it.
    let name: String
    let outcome: Outcome
    let ways: [Site.Way]
    /// Indicates whether the client runs as another user than this program does, if that is root.
    let asOtherUser: Bool
    /// Makes it happen, and returns when it is over.
    let happen: @Sendable (Site) async throws -> Void

    init(
        _ name: String, _ outcome: Outcome = .isRemade, ways: [Site.Way] = Site.Way.allCases, asOtherUser: Bool = false,
        happen: @escaping @Sendable (Site) async throws -> Void
    ) {
        self.name = name
        self.outcome = outcome
        self.ways = ways
        self.asOtherUser = asOtherUser
        self.happen = happen
    }

    /// Those that leave the client's own process as it is.
    static let outside = processes + networks + surroundings
    static let all = outside + shortages
}

extension Site {
    /// Makes a scenario happen, and returns how long it took from its end until the client got on every channel what was sent
    /// after that; of a connection that is lost, on the next one.
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
