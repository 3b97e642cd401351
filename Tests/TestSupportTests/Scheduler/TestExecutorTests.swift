import Dispatch
import TestSupport
import Testing

#if !canImport(Darwin)  // On Darwin, the executor needs a newer system than the package does.

struct TestExecutorTests {
    /// Returns the order in which four tasks run, and then the order of the parts that follow a yield.
    private func order(seed: UInt64?) -> String {
        let executor = TestExecutor(seed: seed)
        let log = Locked("")
        for name in ["a", "b", "c", "d"] {
            Task(executorPreference: executor) {
                log.withLock { $0 += name }
                await Task.yield()
                log.withLock { $0 += name.uppercased() }
            }
        }
        while executor.runNextJob() {}
        return log.withLock { $0 }
    }

    @Test func `An executor runs no job before it is told to, and then one at a time`() {
        let executor = TestExecutor()
        let count = Locked(0)
        for _ in 0..<3 { Task(executorPreference: executor) { count.withLock { $0 += 1 } } }
        for (ran, ready) in [(0, 3), (1, 2), (2, 1), (3, 0)] {
            #expect((count.withLock { $0 }, executor.readyCount) == (ran, ready))
            #expect(executor.runNextJob() == (ready > 0))
        }
    }

    /// An executor is released with its last task, while the thread that enqueued the task's job may still be in the call.
    @Test func `A job may run as soon as it is enqueued, and may release its executor`() {
        let resumer = DispatchQueue(label: "resumer")
        for _ in 0..<4_000 {
            let executor = TestExecutor()
            let waiting = Locked<CheckedContinuation<Void, Never>?>(nil)
            Task(executorPreference: executor) { await withCheckedContinuation { waiting.set(\.self, to: $0) } }
            #expect(executor.runNextJob())
            resumer.async { waiting.withLock(\.self)?.resume() }
            while !executor.runNextJob() {}
        }
    }

    @Test func `Without a seed, the oldest job runs next`() {
        #expect(order(seed: nil) == "abcdABCD")
    }

    @Test func `A seed always gives the same order, and many seeds give all orders`() {
        var first: Set<Substring> = []
        for seed in UInt64(0)..<200 {
            #expect(order(seed: seed) == order(seed: seed))
            first.insert(order(seed: seed).filter(\.isLowercase)[...])
        }
        #expect(first.count == 24)
    }

    @Test func `An actor called from a job runs on the job's executor`() async {
        actor Counter {
            var count = 0
            func add() { count += 1 }
        }
        let executor = TestExecutor()
        let counter = Counter()
        let task = Task(executorPreference: executor) {
            await counter.add()
            return await counter.count
        }
        while executor.runNextJob() {}
        #expect(await task.value == 1)
    }
}

#endif
