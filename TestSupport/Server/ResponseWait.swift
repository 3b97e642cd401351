import PusherChannels

/// The time that a server's response takes: until its gate is open, and then its delay.
///
/// The timer of the delay is made by whoever opens the gate, before the call returns that does: a test opens it and moves the clock.
final class ResponseWait: Sendable {
    private struct State {
        var timer: (any ScheduledAction)?
        var isOver = false
    }

    private let state = Locked(State())
    private let waiting: AsyncStream<Never>
    private let over: AsyncStream<Never>.Continuation

    init(of response: StubResponse, on scheduler: any Scheduler) {
        (waiting, over) = AsyncStream<Never>.makeStream()
        if let gate = response.gate {
            // The delay alone: the response holds the gate, and one that never opens would keep itself and all that waits.
            gate.pass { [weak self, delay = response.delay] in self?.start(delay, on: scheduler) }
        } else {
            start(response.delay, on: scheduler)
        }
    }

    /// Returns when it is over, or when the task is cancelled; leaves no timer behind.
    func end() async {
        for await _ in waiting {}
        state.withLock { state in
            state.isOver = true
            return state.timer.take()
        }?.cancel()
    }

    private func start(_ delay: Duration, on scheduler: any Scheduler) {
        guard delay > .zero else { return over.finish() }
        let timer = scheduler.schedule(at: scheduler.now + delay, label: "delayed answer") { [over] in over.finish() }
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        // Cancelled while the timer was being made.
        if isOver { timer.cancel() }
    }
}
