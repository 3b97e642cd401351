import PusherChannels

/// A gate that holds replies back until the test opens it, to order events without a clock.
///
/// All members may be called from any thread.
public final class Gate: Sendable {
    private struct State {
        /// The actions that wait, by order of arrival; `nil` once the gate is open.
        var waiting: [Int: @Sendable () -> Void]? = [:]
        var arrivals = 0
    }

    /// An action that waits at a gate. Doesn't keep the gate alive: the action may hold what holds the gate.
    private struct Wait: ScheduledAction {
        weak var gate: Gate?
        let number: Int

        func cancel() {
            let action = gate?.state.withLock { $0.waiting?.removeValue(forKey: number) }
            // Released outside the lock, because users' objects go with it.
            withExtendedLifetime(action) {}
        }
    }

    private let state = Locked(State())

    /// Creates a closed gate.
    public init() {}

    /// Opens the gate. Everything that waits passes in order of arrival before this method returns; later arrivals don't wait.
    public func open() {
        let waiting = state.withLock { $0.waiting.take() } ?? [:]
        for (_, action) in waiting.sorted(by: { $0.key < $1.key }) { action() }
    }

    /// The number of replies that are waiting.
    public var waitingCount: Int { state.withLock { $0.waiting?.count ?? 0 } }

    /// Runs an action once the gate is open. Returns the wait, which can be cancelled; `nil` if the gate is open already.
    @discardableResult
    func pass(_ action: @escaping @Sendable () -> Void) -> (any ScheduledAction)? {
        let number: Int? = state.withLock { state in
            guard state.waiting != nil else { return nil }
            state.arrivals += 1
            state.waiting?[state.arrivals] = action
            return state.arrivals
        }
        if number == nil { action() }
        return number.map { Wait(gate: self, number: $0) }
    }

    /// Waits until the gate is open or the task is cancelled.
    ///
    /// - Parameter held: A closure that is called once the wait is counted in ``waitingCount``.
    func waitUntilOpen(held: () -> Void) async {
        let (opening, signal) = AsyncStream<Never>.makeStream()
        let wait = pass { signal.finish() }
        held()
        for await _ in opening {}
        wait?.cancel()
    }
}
