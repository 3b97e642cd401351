import PusherChannels

/// States that stubs answer in and lead to: signed out, signed in.
///
/// ```swift
/// let visit = Scenario("visit", startingIn: "signed out")
/// session.stub("GET /me", .http(401)).in(visit, state: "signed out").optional()
/// session.stub("POST /login", .ok).in(visit, state: "signed out", then: "signed in")
/// session.stub("GET /me", .json(["name": "Ann"])).in(visit, state: "signed in")
/// ```
///
/// A state is left by one request only, however many come at a time. All members may be called from any thread.
public final class Scenario: Sendable {
    struct Step {
        let scenario: Scenario
        let from: String
        let to: String

        /// Goes from the one state to the other; not possible from any other state.
        func take() -> Bool {
            scenario.current.withLock { current in
                guard current == from else { return false }
                current = to
                return true
            }
        }

        var reasonAgainst: String? {
            let state = scenario.state
            return state == from ? nil : "scenario \(scenario.name) is in state \(state), not \(from)"
        }
    }

    /// The name of the scenario, for reports.
    public let name: String
    private let current: Locked<String>

    /// Creates a scenario.
    public init(_ name: String, startingIn state: String) {
        self.name = name
        current = Locked(state)
    }

    /// The present state; setting it is what the test itself does to the world.
    public var state: String {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
