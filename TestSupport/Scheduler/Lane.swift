import PusherChannels

/// Runs async code under test step by step, in virtual time: no waiting, no timeouts, the same order every time.
///
/// ```swift
/// try await Lane().run { lane in
///     let poll = lane.spawn { try? await lane.clock.sleep(for: .seconds(3)) }
///     await lane.advance(by: .seconds(3))
///     await poll.value
/// }
/// ```
///
/// The body, what it calls, its child tasks and what ``spawn(_:)`` starts run on the lane, one job at a time. Where the body
/// can't go on, `run` fails at once with a ``Deadlock``. A seed draws the order of the jobs; see ``exploreInterleavings(seeds:time:_:)``.
///
/// Not on the lane: GCD, sockets, the main actor, detached tasks, `Task {}` without the ``executor`` preferred. Wrap a wait for
/// one of them in ``outside(_:)``.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class Lane: Sendable {
    /// Who moves the clock.
    public enum Time: Sendable {
        /// The body.
        case manual
        /// The lane, to the next timer whenever nothing is ready: a test that sleeps ends at once.
        case automatic
    }

    /// The virtual time and its timers.
    public let scheduler: TestScheduler
    /// What runs the lane's jobs.
    public let executor: TestExecutor
    let waiters = Locked(LaneWaiters())

    /// Creates a lane.
    ///
    /// - Parameters:
    ///   - scheduler: The virtual time; one that others use, too, keeps them in step.
    ///   - seed: Draws the order of the jobs; without it the oldest is next.
    public init(scheduler: TestScheduler = TestScheduler(), seed: UInt64? = nil) {
        self.scheduler = scheduler
        executor = TestExecutor(seed: seed)
    }

    /// A clock on the lane's virtual time.
    public var clock: TestClock { TestClock(scheduler) }

    /// Starts a task on the lane, as ``PusherEnvironment/spawn`` wants it.
    @discardableResult
    @Sendable public func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: executor, operation: body)
    }

    // MARK: From within the body

    /// Returns when all that is ready has run, including timers that are due; time stays where it is.
    public func settle() async {
        _ = await wait(until: .rest(at: scheduler.now))
    }

    /// Moves time forward, timer by timer; what is ready runs before and after each of them, and before this returns.
    public func advance(by duration: Duration) async {
        _ = await wait(until: .rest(at: scheduler.now + duration))
    }

    /// Returns when the condition holds; looks again whenever the lane has come to rest, and moves time from timer to timer.
    ///
    /// - Parameters:
    ///   - what: Names the condition in the error.
    ///   - limit: How much virtual time may pass.
    ///   - condition: Is looked at again and again.
    /// - Throws: ``NeverHappened`` at once when no timer within the limit is left; `CancellationError` when the task is
    ///   cancelled; what the condition throws.
    public func eventually(
        _ what: String = "the condition", within limit: Duration = .seconds(60),
        _ condition: @Sendable () async throws -> Bool
    ) async throws {
        let deadline = scheduler.now + limit
        var progress = waiters.withLock { $0.progress }
        while true {
            try Task.checkCancellation()
            let isTrue: Bool
            do {
                isTrue = try await condition()
            } catch {
                waiters.withLock { $0.endLook(isOver: true) }
                throw error
            }
            waiters.withLock { $0.endLook(isOver: isTrue) }
            if isTrue { return }
            guard await wait(until: .change(since: progress, limit: deadline)) else {
                throw NeverHappened(what: what, limit: limit, now: scheduler.now, pending: scheduler.pendingTimers)
            }
            progress = waiters.withLock { $0.progress }
        }
    }

    /// Says that a wait is for something that doesn't happen on the lane, so that it is no deadlock:
    /// `let message = await lane.outside { await socket.next() }`.
    ///
    /// The lane then waits for it in real time, and neither ``Time/automatic`` nor ``eventually(_:within:_:)`` moves the clock
    /// meanwhile; ``advance(by:)`` does. Nothing bounds that wait.
    ///
    /// - Throws: what the body throws.
    public func outside<Result: Sendable>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
        waiters.withLock { $0.outside += 1 }
        defer { waiters.withLock { $0.outside -= 1 } }
        return try await body()
    }

    private func wait(until event: LaneWaiters.Event) async -> Bool {
        await withCheckedContinuation { continuation in
            let isRunning = waiters.withLock { waiters in
                waiters.add(event) { continuation.resume(returning: $0) }
                return waiters.isRunning
            }
            // Whoever waits while no body runs makes the steps; otherwise the one who does may be asleep.
            if isRunning { executor.wake() } else { while step() {} }
        }
    }
}
