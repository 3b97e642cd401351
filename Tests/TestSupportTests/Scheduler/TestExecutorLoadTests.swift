import TestSupport
import Testing

#if !canImport(Darwin)  // On Darwin, the executor needs a newer system than the package does.

/// An actor that reconnects with growing pauses until it is connected, as clients do.
private actor Reconnector {
    private let clock: any Clock<Duration>
    private(set) var attempts = 0
    private(set) var isConnected = false

    init(clock: any Clock<Duration>) {
        self.clock = clock
    }

    func run(failing failures: Int) async throws {
        var pause = Duration.seconds(1)
        while true {
            attempts += 1
            await Task.yield()
            if attempts > failures { break }
            try await clock.sleep(for: pause)
            pause *= 2
        }
        isConnected = true
    }
}

struct TestExecutorLoadTests {
    @Test func `Five hundred executors side by side go through the same steps`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask { try await TestExecutor().run(reconnect) }
            }
            try await group.waitForAll()
        }
    }

    @Sendable private func reconnect(_ executor: TestExecutor) async throws {
        let reconnector = Reconnector(clock: executor.clock)
        let task = executor.spawn { try? await reconnector.run(failing: 3) }
        await executor.settle()
        for (attempts, pause) in [(1, 1), (2, 2), (3, 4)] {
            #expect(await reconnector.attempts == attempts)
            await executor.advance(by: .seconds(pause) - .nanoseconds(1))
            #expect(await reconnector.attempts == attempts)
            await executor.advance(by: .nanoseconds(1))
        }
        #expect(await reconnector.isConnected)
        await task.value
    }

    @Test func `Twenty thousand sleeps end at the right virtual time`() async throws {
        let executor = TestExecutor()
        try await executor.run(time: .automatic) { executor in
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<100 {
                    group.addTask {
                        for _ in 0..<200 { try? await executor.clock.sleep(for: .milliseconds(1 + worker)) }
                    }
                }
            }
        }
        #expect(executor.scheduler.now == .seconds(20))
    }
}

#endif
