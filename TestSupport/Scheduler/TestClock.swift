import PusherChannels

/// A Swift `Clock` on virtual time: who sleeps on it wakes when a ``TestScheduler`` moves its clock, and only then.
///
/// A sleep is a timer of the scheduler, so it appears in ``TestScheduler/pendingTimers``. All members may be called from any
/// thread.
public struct TestClock: Clock {
    /// A point in virtual time, as the scheduler tells it.
    public typealias Instant = PusherChannels.Instant

    private let scheduler: TestScheduler
    private let label: String

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - scheduler: The source of its time.
    ///   - label: The name of its sleeps in reports; a clock of its own for each part under test tells them apart.
    public init(_ scheduler: TestScheduler, label: String = "sleep") {
        self.scheduler = scheduler
        self.label = label
    }

    /// The virtual time.
    public var now: Instant { scheduler.now }

    /// None: virtual time has no ticks.
    public var minimumResolution: Duration { .zero }

    /// Returns when the scheduler's clock has reached `deadline`, at once when it is there already.
    ///
    /// The sleeper goes on on its own executor after the advance has resumed it; on a ``TestExecutor``, before time moves on.
    ///
    /// - Parameters:
    ///   - deadline: When to return.
    ///   - tolerance: Without effect; a virtual clock is never late.
    /// - Throws: `CancellationError` as soon as the task is cancelled; no timer is left behind.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        guard deadline > now else { return }
        let sleeper = Sleeper()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                sleeper.start(continuation) {
                    scheduler.schedule(at: deadline, label: label, from: nil) { sleeper.finish(.success(())) }
                }
            }
        } onCancel: {
            sleeper.finish(.failure(CancellationError()))
        }
    }
}

/// One sleep: ends once, by its timer or by cancellation, even by one that comes before it has begun.
private final class Sleeper: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, any Error>?
        var timer: (any ScheduledAction)?
        var result: Result<Void, any Error>?
    }

    private let state = Locked(State())

    func start(_ continuation: CheckedContinuation<Void, any Error>, _ schedule: () -> any ScheduledAction) {
        let early = state.withLock { state in
            if state.result == nil { state.continuation = continuation }
            return state.result
        }
        if let early { return continuation.resume(with: early) }
        let timer = schedule()
        let isOver = state.withLock { state in
            if state.result == nil { state.timer = timer }
            return state.result != nil
        }
        // Cancelled while the timer was being made.
        if isOver { timer.cancel() }
    }

    func finish(_ result: Result<Void, any Error>) {
        let (continuation, timer) = state.withLock { state in
            guard state.result == nil else {
                return (nil as CheckedContinuation<Void, any Error>?, nil as (any ScheduledAction)?)
            }
            defer {
                state.result = result
                state.continuation = nil
                state.timer = nil
            }
            return (state.continuation, state.timer)
        }
        timer?.cancel()
        continuation?.resume(with: result)
    }
}
