import PusherChannels

/// A gate that holds replies back until the test opens it, to order events without a clock.
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

    /// Opens the gate. Everything that waits passes in order of arrival before this method returns; later arrivals don't wait.
    public func open() {
        let waiting = state.withLock { state in
            guard case .closed(let waiting) = state else { return [@Sendable () -> Void]() }
            state = .open
            return waiting
        }
        for action in waiting { action() }
    }

    /// The number of replies that are waiting.
    public var waitingCount: Int {
        state.withLock { if case .closed(let waiting) = $0 { waiting.count } else { 0 } }
    }

    /// Runs an action once the gate is open, immediately if it already is.
    func pass(_ action: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            guard case .closed(let waiting) = state else { return true }
            state = .closed(waiting: waiting + [action])
            return false
        }
        if isOpen { action() }
    }

    /// Waits until the gate is open or the task is cancelled.
    ///
    /// - Parameter held: A closure that is called once the wait is counted in ``waitingCount``.
    func waitUntilOpen(held: () -> Void) async {
        let (opening, signal) = AsyncStream<Never>.makeStream()
        pass { signal.finish() }
        held()
        for await _ in opening {}
    }
}
