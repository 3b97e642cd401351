import PusherChannels

/// Holds answers back until the test says so: an order of events without a clock.
///
/// All members may be called from any thread.
public final class Gate: Sendable {
    private enum State {
        case closed(waiting: [@Sendable () -> Void])
        case open
    }

    private let state = Locked(State.closed(waiting: []))

    /// Creates a closed gate.
    public init() {}

    /// Lets everything through that waits, in the order it came, before this returns; later comers don't wait.
    public func open() {
        let waiting = state.withLock { state in
            guard case .closed(let waiting) = state else { return [@Sendable () -> Void]() }
            state = .open
            return waiting
        }
        for action in waiting { action() }
    }

    /// The number of those who wait.
    public var waitingCount: Int {
        state.withLock { if case .closed(let waiting) = $0 { waiting.count } else { 0 } }
    }

    /// Runs an action once the gate is open, at once if it is.
    func pass(_ action: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            guard case .closed(let waiting) = state else { return true }
            state = .closed(waiting: waiting + [action])
            return false
        }
        if isOpen { action() }
    }

    /// Returns when the gate is open, or when the task is cancelled.
    ///
    /// - Parameter held: Called when it counts among those who wait.
    func waitUntilOpen(held: () -> Void) async {
        let (opening, signal) = AsyncStream<Never>.makeStream()
        pass { signal.finish() }
        held()
        for await _ in opening {}
    }
}
