import PusherChannels

/// A Swift `Clock` on virtual time. Sleepers wake only when a ``TestScheduler`` moves its clock.
///
/// A sleep is a timer of the scheduler, so it appears in ``TestScheduler/pendingTimers``. All members may be called from any
/// thread.
public struct TestClock: Clock {
    /// A point in the scheduler's virtual time.
    public typealias Instant = PusherChannels.Instant

    private let scheduler: TestScheduler
    private let label: String

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - scheduler: The scheduler of the clock's time.
    ///   - label: The name of the clock's sleeps in reports; to tell the parts under test apart, give each a separate clock.
    public init(_ scheduler: TestScheduler, label: String = "sleep") {
        self.scheduler = scheduler
        self.label = label
    }

    /// The virtual time.
    public var now: Instant { scheduler.now }

    /// Zero, because virtual time has no ticks.
    public var minimumResolution: Duration { .zero }

    /// Sleeps until the scheduler's clock has reached `deadline`; returns immediately if it already has.
    ///
    /// After the advance has resumed it, the sleeper continues on its own executor; on a ``TestExecutor``, it does so before time
    /// moves on.
    ///
    /// - Parameters:
    ///   - deadline: The time at which to return.
    ///   - tolerance: Ignored, because a virtual clock is never late.
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

/// A sleep that ends once, by its timer or by cancellation, even if it is cancelled before it has begun.
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
