import PusherChannels

/// The wait for a server's response: until its gate is open, and then for its delay.
///
/// The call that opens the gate also creates the delay's timer before it returns, so that a test can open the gate and move the
/// clock.
final class ResponseWait: Sendable {
    private struct State {
        var timer: (any ScheduledAction)?
        var gate: (any ScheduledAction)?
        var isOver = false
    }

    private let state = Locked(State())
    private let waiting: AsyncStream<Never>
    private let over: AsyncStream<Never>.Continuation

    init(of response: StubResponse, on scheduler: any Scheduler) {
        (waiting, over) = AsyncStream<Never>.makeStream()
        if let gate = response.gate {
            // Captures only the delay: the response holds the gate, and a gate that never opens would keep itself and everything
            // that waits.
            let wait = gate.pass { [weak self, delay = response.delay] in self?.start(delay, on: scheduler) }
            state.withLock { $0.gate = wait }
        } else {
            start(response.delay, on: scheduler)
        }
    }

    /// Returns when the wait is over, or when the task is cancelled. Leaves no timer behind, and nothing at the gate.
    func end() async {
        for await _ in waiting {}
        let pending = state.withLock { state in
            state.isOver = true
            return [state.timer.take(), state.gate.take()]
        }
        for action in pending { action?.cancel() }
    }

    private func start(_ delay: Duration, on scheduler: any Scheduler) {
        guard delay > .zero else { return over.finish() }
        let timer = scheduler.schedule(at: scheduler.now + delay, label: "delayed answer") { [over] in over.finish() }
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        // The wait was cancelled while the timer was being created.
        if isOver { timer.cancel() }
    }
}
