import PusherChannels

/// An executor that runs async code under test step by step, in virtual time: no waiting, no time-outs, the same order every
/// time.
///
/// ```swift
/// try await TestExecutor().run { executor in
///     let poll = executor.spawn { try? await executor.clock.sleep(for: .seconds(3)) }
///     await executor.advance(by: .seconds(3))
///     await poll.value
/// }
/// ```
///
/// The body, the code it calls, its child tasks, and tasks started by ``spawn(_:)->Task<Void,Never>`` run on the executor, one
/// job at a time. If the body can't continue, `run` fails immediately with a ``Deadlock``. A seed determines the order of the
/// jobs; see ``exploreInterleavings(seeds:time:file:line:_:)``.
///
/// The executor doesn't run GCD, sockets, the main actor, detached tasks, actors with their own executor, or a `Task {}` that
/// doesn't prefer the executor. Wrap a wait for one of them in ``outside(_:)``.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class TestExecutor: TaskExecutor {
    /// The ways in which the clock moves.
    public enum Time: Sendable {
        /// The body moves the clock.
        case manual
        /// The executor moves the clock to the next timer whenever nothing is ready: a test that sleeps ends immediately.
        case automatic
    }

    private struct State {
        /// The jobs that are ready, the oldest first.
        var jobs = Deque<UnownedJob>()
        var generator: SplitMix64?
        var sleepers: [CheckedContinuation<Void, Never>] = []
        /// A counter of wake-ups, so no sleeper misses one that came just before it fell asleep.
        var calls = 0

        mutating func takeSleepers() -> [CheckedContinuation<Void, Never>] {
            calls += 1
            defer { sleepers = [] }
            return sleepers
        }
    }

    /// The executor whose body the current task belongs to.
    @TaskLocal static var current: TestExecutor?

    /// The virtual time and its timers.
    public let scheduler: TestScheduler
    /// The seed that draws the order of the jobs; `nil` for the order in which they became ready.
    public let seed: UInt64?
    let waiters = Locked(ExecutorWaiters())
    private let state: Locked<State>

    /// Creates an executor.
    ///
    /// - Parameters:
    ///   - scheduler: The virtual time; sharing it with others keeps them in step.
    ///   - seed: The seed for drawing the next job from those that are ready, with the same results for the same seed; without a
    ///     seed, the oldest is next.
    public init(scheduler: TestScheduler = TestScheduler(), seed: UInt64? = nil) {
        self.scheduler = scheduler
        self.seed = seed
        state = Locked(State(generator: seed.map(SplitMix64.init)))
    }

    /// A clock on the executor's virtual time.
    public var clock: TestClock { TestClock(scheduler) }

    /// Starts a task on the executor, in the form that ``PusherEnvironment/spawn`` takes.
    @discardableResult
    @Sendable public func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self, operation: body)
    }

    /// Starts a task on the executor that may throw.
    @discardableResult
    public func spawn(_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
        Task(executorPreference: self, operation: body)
    }

    // MARK: Jobs

    /// Keeps a job until it is run. The Swift runtime calls this on any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Do both under one lock: a thread that finds the job may run it to its task's end, and the task may be the last to keep
        // this executor alive.
        let sleepers = state.withLock { state in
            state.jobs.append(job)
            return state.takeSleepers()
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// The number of jobs that are ready.
    package var readyCount: Int { state.withLock { $0.jobs.count } }

    /// Runs one job on this thread, until it ends or waits.
    ///
    /// - Returns: `false` when none was ready.
    @discardableResult
    package func runNextJob() -> Bool {
        let job = state.withLock { state in
            guard var generator = state.generator else { return state.jobs.popFirst() }
            defer { state.generator = generator }
            return state.jobs.isEmpty
                ? nil : state.jobs.remove(swappingLastInto: Int.random(in: 0..<state.jobs.count, using: &generator))
        }
        guard let job else { return false }
        job.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }

    /// The number of jobs to run before checking their effect, because a job may always make another.
    static let mostJobsAtOnce = 100_000

    /// Runs what is ready, up to a limit. Returns whether nothing is left.
    func runJobs() -> Bool {
        for _ in 0..<Self.mostJobsAtOnce where !runNextJob() { return true }
        return readyCount == 0
    }

    /// The number of calls so far. Read it before looking for something to do.
    var calls: Int { state.withLock { $0.calls } }

    /// Waits until a job has come or ``wake()`` has been called since, for a thread that has nothing else to do.
    func waitForCall(since calls: Int) async {
        await withCheckedContinuation { continuation in
            let isAwake = state.withLock { state in
                guard state.calls == calls else { return true }
                state.sleepers.append(continuation)
                return false
            }
            if isAwake { continuation.resume() }
        }
    }

    /// Ends each ``waitForCall(since:)`` that began before.
    func wake() {
        for sleeper in state.withLock({ $0.takeSleepers() }) { sleeper.resume() }
    }
}
