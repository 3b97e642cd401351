import TestSupport
import Testing

#if !canImport(Darwin)  // On Darwin, the executor needs a newer system than the package does.

struct TestExecutorRunTests {
    private let log = Locked<[String]>([])

    private var entries: [String] { log.withLock { $0 } }

    private func note(_ text: String) {
        log.withLock { $0.append(text) }
    }

    // MARK: Time

    @Test func `Ready jobs run before time moves and between two timers`() async throws {
        try await TestExecutor().run { [self] executor in
            executor.spawn {
                note("begun at \(executor.scheduler.now)")
                for _ in 0..<2 {
                    try? await executor.clock.sleep(for: .seconds(1))
                    await Task.yield()
                    note("\(executor.scheduler.now)")
                }
            }
            await executor.advance(by: .seconds(5))
            note("over at \(executor.scheduler.now)")
        }
        #expect(entries == ["begun at 0.0 seconds", "1.0 seconds", "2.0 seconds", "over at 5.0 seconds"])
    }

    @Test func `Settling runs ready jobs and due timers without moving time`() async throws {
        try await TestExecutor(scheduler: TestScheduler(startingAt: .seconds(7))).run { [self] executor in
            executor.spawn {
                await Task.yield()
                note("ready")
                _ = executor.scheduler.schedule(at: .seconds(3), label: "overdue") { note("due") }
                _ = executor.scheduler.schedule(at: .seconds(8), label: "later") { note("later") }
            }
            await executor.settle()
            #expect(executor.scheduler.now == .seconds(7))
        }
        #expect(entries == ["ready", "due"])
    }

    @Test func `A timer that is already due runs without an advance`() async throws {
        let executor = TestExecutor()
        try await executor.run { executor in
            await withCheckedContinuation { continuation in
                _ = executor.scheduler.schedule(at: executor.scheduler.now, label: "due") { continuation.resume() }
            }
        }
        #expect(executor.scheduler.now == .origin)
    }

    @Test func `Two tasks that advance the clock meet in virtual time`() async throws {
        try await TestExecutor().run { [self] executor in
            let other = executor.spawn {
                await executor.advance(by: .seconds(2))
                note("other at \(executor.scheduler.now)")
            }
            await executor.advance(by: .seconds(1))
            note("body at \(executor.scheduler.now)")
            await other.value
        }
        #expect(entries == ["body at 1.0 seconds", "other at 2.0 seconds"])
    }

    @Test func `An automatic clock jumps from sleep to sleep`() async throws {
        let executor = TestExecutor()
        try await executor.run(time: .automatic) { [self] executor in
            async let slow: Void = executor.clock.sleep(for: .seconds(86_400))
            async let fast: Void = executor.clock.sleep(for: .seconds(60))
            try await fast
            note("\(executor.scheduler.now)")
            try await slow
        }
        #expect(entries == ["60.0 seconds"])
        #expect(executor.scheduler.now == .seconds(86_400))
    }

    // MARK: The body

    @TaskLocal private static var name = "none"

    @Test func `A body's value, error, cancellation, and task-local values are the caller's`() async throws {
        struct Trouble: Error {}
        #expect(try await TestExecutor().run { _ in 7 } == 7)
        await #expect(throws: Trouble.self) { try await TestExecutor().run { _ in throw Trouble() } }
        let name = try await Self.$name.withValue("test") { try await TestExecutor().run { _ in Self.name } }
        #expect(name == "test")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await TestExecutor().run { executor in try await executor.clock.sleep(for: .seconds(1)) }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `A body's ready tasks still run after it, and a body given up is canceled`() async throws {
        try await TestExecutor().run { [self] executor in
            executor.spawn {
                note("ready")
                try? await executor.clock.sleep(for: .seconds(1))
                note("left behind")
            }
        }
        #expect(entries == ["ready"])
        await #expect(throws: Deadlock.self) {
            try await TestExecutor().run { [self] executor in
                defer { note("unwound, cancelled: \(Task.isCancelled)") }
                try await executor.clock.sleep(for: .seconds(1))
            }
        }
        #expect(entries.last == "unwound, cancelled: true")
    }

    @Test func `Time stands still after a body, and the waits of tasks that it left are given up`() async throws {
        let executor = TestExecutor()
        try await executor.run { [self] executor in
            _ = executor.scheduler.schedule(at: .seconds(1), label: "later") { note("later") }
            executor.spawn {
                await executor.advance(by: .seconds(60))
                note("given up")
            }
            executor.spawn {
                do { try await executor.eventually { false } } catch { note("\(type(of: error))") }
            }
        }
        #expect(entries == ["given up", "NeverHappened"])
        #expect(executor.scheduler.now == .origin)
    }

    @Test func `An executor runs only one body at a time, but another one after it`() async throws {
        let executor = TestExecutor()
        try await executor.run { executor in
            await #expect(throws: ExecutorIsRunning.self) { try await executor.run { _ in } }
        }
        #expect(try await executor.run { _ in 1 } == 1)
    }
}

#endif
