import TestSupport
import Testing

#if !canImport(Darwin)  // On Darwin, the executor needs a newer system than the package does.

struct TestClockTests {
    private let executor = TestExecutor()
    private let log = Locked<[String]>([])

    private var entries: [String] { log.withLock { $0 } }

    private func sleeper(_ name: String, for duration: Duration) -> Task<Void, Never> {
        executor.spawn { [executor, log] in
            do {
                try await TestClock(executor.scheduler, label: name).sleep(for: duration)
                log.withLock { $0.append("\(name) woke at \(executor.scheduler.now)") }
            } catch {
                log.withLock { $0.append("\(name) threw \(error) at \(executor.scheduler.now)") }
            }
        }
    }

    @Test func `A sleep is a labeled timer, and ends when the scheduler's clock reaches it`() async {
        let task = sleeper("back-off", for: .seconds(3))
        await executor.settle()
        #expect(executor.scheduler.pendingTimers == [.init(label: "back-off", deadline: .seconds(3))])
        await executor.advance(by: .seconds(3) - .nanoseconds(1))
        #expect(entries.isEmpty)
        await executor.advance(by: .nanoseconds(1))
        #expect(entries == ["back-off woke at 3.0 seconds"])
        await task.value
    }

    @Test func `Advancing the scheduler resumes a sleeper on its own executor`() async {
        let task = sleeper("a", for: .seconds(1))
        await executor.settle()
        executor.scheduler.advance(by: .seconds(1))
        #expect(entries.isEmpty)
        #expect(executor.readyCount == 1)
        executor.runNextJob()
        #expect(entries == ["a woke at 1.0 seconds"])
        await task.value
    }

    @Test func `A sleep without an executor ends when the scheduler advances`() async throws {
        let scheduler = TestScheduler()
        async let woken: Void = TestClock(scheduler).sleep(for: .seconds(1))
        try await withWatchdog("the sleeper's timer") { await scheduler.waitForTimer(labeled: "sleep") }
        scheduler.advance(by: .seconds(1))
        try await woken
    }

    @Test(arguments: [false, true])
    func `Canceling a task before or during its sleep ends the sleep at once and leaves no timer`(sleeps: Bool) async {
        let task = sleeper("a", for: .seconds(3))
        if sleeps { await executor.settle() }
        task.cancel()
        #expect(executor.scheduler.pendingTimers.isEmpty)
        await executor.settle()
        #expect(entries == ["a threw CancellationError() at 0.0 seconds"])
        #expect(executor.scheduler.pendingTimers.isEmpty)
    }

    @Test func `A sleep until a deadline that is reached or past returns at once`() async throws {
        let clock = TestClock(TestScheduler(startingAt: .seconds(9)))
        try await clock.sleep(until: clock.now)
        try await clock.sleep(until: .seconds(1))
        #expect(clock.now == .seconds(9))
    }

    @Test func `Code that is generic over Clock measures virtual time`() async throws {
        @Sendable func timed(_ clock: some Clock<Duration>) async throws -> Duration {
            try await clock.measure { try await clock.sleep(for: .seconds(90)) }
        }
        #expect(try await executor.run(time: .automatic) { try await timed($0.clock) } == .seconds(90))
        #expect(executor.clock.now.duration(to: .seconds(100)) == .seconds(10))
        #expect(executor.clock.minimumResolution == .zero)
    }

    @Test func `A sleep that is canceled as it ends is resumed once`() async throws {
        for seed in UInt64(0)..<50 {
            let executor = TestExecutor(seed: seed)
            try await executor.run { executor in
                let task = executor.spawn { try? await executor.clock.sleep(for: .seconds(1)) }
                await executor.settle()
                _ = executor.scheduler.schedule(at: .seconds(1), label: "cancel") { task.cancel() }
                await executor.advance(by: .seconds(1))
                await task.value
            }
            #expect(executor.scheduler.pendingTimers.isEmpty)
        }
    }
}

#endif
