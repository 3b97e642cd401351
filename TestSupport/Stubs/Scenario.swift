import PusherChannels

/// A sequence of states, such as signed out and signed in, that stubs depend on and change.
///
/// ```swift
/// let visit = Scenario("visit", startingIn: "signed out")
/// session.stub("GET /me", .http(401)).in(visit, state: "signed out").optional()
/// session.stub("POST /login", .ok).in(visit, state: "signed out", then: "signed in")
/// session.stub("GET /me", .json(["name": "Ann"])).in(visit, state: "signed in")
/// ```
///
/// Only one request leaves a state, even if several arrive at once. All members may be called from any thread.
public final class Scenario: Sendable {
    struct Step {
        let scenario: Scenario
        let from: String
        let to: String

        /// Changes from one state to the other. Returns `false` in any other state.
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

    /// The current state. The test may also set it.
    public var state: String {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
