import PusherChannels

/// Runs the jobs of async code one at a time, on the thread that asks for the next one: nothing happens by itself.
///
/// Tasks with this preference, their child tasks and the actors they call run here. Not so unstructured tasks without the
/// preference, the main actor and actors with an executor of their own. A ``Lane`` runs the jobs; on its own it is of use to
/// look at one step after the other. All members may be called from any thread; with one thread running jobs everything is
/// deterministic.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class TestExecutor: TaskExecutor {
    private struct State {
        var jobs = JobQueue()
        var generator: SplitMix64?
        var sleeper: CheckedContinuation<Void, Never>?
        var isAwake = false
    }

    /// What the order of the jobs was drawn from; `nil` for the order in which they became ready.
    public let seed: UInt64?

    private let state: Locked<State>

    /// Creates an executor.
    ///
    /// - Parameter seed: Draws the next job from those that are ready, the same ones for the same seed; without it the
    ///   oldest is next.
    public init(seed: UInt64? = nil) {
        self.seed = seed
        state = Locked(State(generator: seed.map(SplitMix64.init)))
    }

    /// Keeps a job until it is asked for. Called by the Swift runtime, on any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wake()
    }

    /// How many jobs are ready.
    public var readyCount: Int { state.withLock { $0.jobs.count } }

    /// Runs one job on this thread, until it ends or waits.
    ///
    /// - Returns: `false` when none was ready.
    @discardableResult
    public func runNextJob() -> Bool {
        let job = state.withLock { state in
            guard var generator = state.generator else { return state.jobs.popFirst() }
            defer { state.generator = generator }
            return state.jobs.popAny(using: &generator)
        }
        guard let job else { return false }
        job.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }

    /// Returns when a job is ready or someone else called ``wake()``: for a thread that has nothing else to do.
    func waitForJob() async {
        await withCheckedContinuation { continuation in
            let isAwake = state.withLock { state in
                defer { state.isAwake = false }
                guard state.jobs.count == 0, !state.isAwake else { return true }
                state.sleeper = continuation
                return false
            }
            if isAwake { continuation.resume() }
        }
    }

    /// Ends ``waitForJob()``, the present one or the next.
    func wake() {
        let sleeper = state.withLock { state in
            defer { state.sleeper = nil }
            state.isAwake = state.sleeper == nil
            return state.sleeper
        }
        sleeper?.resume()
    }
}

/// The jobs that are ready, the oldest first.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private struct JobQueue {
    private var jobs: [UnownedJob] = []
    /// Where the oldest stands; removing it from the front of the array would move all others each time.
    private var first = 0

    var count: Int { jobs.count - first }

    mutating func append(_ job: UnownedJob) {
        jobs.append(job)
    }

    mutating func popFirst() -> UnownedJob? {
        guard count > 0 else { return nil }
        defer {
            first += 1
            if first == jobs.count {
                jobs.removeAll(keepingCapacity: true)
                first = 0
            } else if first > 1_024, first * 2 > jobs.count {
                jobs.removeFirst(first)
                first = 0
            }
        }
        return jobs[first]
    }

    mutating func popAny(using generator: inout SplitMix64) -> UnownedJob? {
        guard count > 0 else { return nil }
        jobs.swapAt(Int.random(in: first..<jobs.count, using: &generator), jobs.count - 1)
        return jobs.popLast()
    }
}
