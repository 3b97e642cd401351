import Dispatch
import Foundation
import TestSupport
import Testing

#if !canImport(Darwin)  // On Darwin, the executor needs a newer system than the package does.

struct TestExecutorFailureTests {
    private func never() async {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    @Test func `A body that nothing can wake fails at once as a deadlock that names the timers`() async throws {
        let executor = TestExecutor()
        let error = await #expect(throws: Deadlock.self) {
            try await executor.run { executor in
                _ = executor.scheduler.schedule(at: .seconds(30), label: "heartbeat") {}
                try await TestClock(executor.scheduler, label: "back-off").sleep(for: .seconds(3))
            }
        }
        #expect(error?.now == .origin)
        #expect(error?.pending.map(\.label) == ["back-off", "heartbeat"])
        let text = try #require(error).description
        for part in [
            "deadlock at ", "advance it", "back-off at 3.0 seconds, heartbeat at 30.0 seconds", "executor.outside",
            "for a `Task {}`", "TestExecutorFailureTests.swift:",
        ] { #expect(text.contains(part)) }
    }

    @Test func `A body that nothing can wake is also a deadlock if the clock is automatic`() async throws {
        let error = await #expect(throws: Deadlock.self) { try await TestExecutor().run(time: .automatic) { _ in await never() } }
        #expect(try #require(error).description.contains("nothing is scheduled"))
    }

    /// Cancelling such a request would make Foundation on Linux end the process.
    @Test func `A deadlock doesn't cancel a request that is being answered`() async throws {
        try await withTestHarness { harness in
            harness.session.stub("GET /", .ok)
            let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
            let url = try #require(URL(string: "https://api.example.com/"))
            for _ in 1...50 {
                do { try await harness.makeExecutor().run { _ in _ = try await urlSession.data(from: url) } } catch is Deadlock {}
            }
        }
    }

    @Test func `Waiting for something outside the executor is no deadlock`() async throws {
        let value = try await TestExecutor().run { executor in
            await executor.outside {
                await withCheckedContinuation { reply in DispatchQueue.global().async { reply.resume(returning: 7) } }
            }
        }
        #expect(value == 7)
    }

    @Test func `An automatic clock stands still while something outside the executor is awaited`() async throws {
        let gate = AsyncStream<Void>.makeStream()
        let executor = TestExecutor()
        try await executor.run(time: .automatic) { executor in
            let timeout = executor.spawn { try? await executor.clock.sleep(for: .seconds(1)) }
            let reply = Locked(false)
            executor.spawn {
                await executor.outside { for await _ in gate.stream {} }
                reply.withLock { $0 = true }
            }
            await executor.settle()
            DispatchQueue.global().async { gate.continuation.finish() }
            try await executor.eventually("the answer") { reply.withLock { $0 } }
            #expect(executor.scheduler.now == .origin)
            await timeout.value
            #expect(executor.scheduler.now == .seconds(1))
        }
    }

    @Test(.timeLimit(.minutes(3))) func `A wait on an executor without a body also waits for outside work`() async throws {
        let gate = AsyncStream<Void>.makeStream()
        let (executor, reply) = (TestExecutor(), Locked(false))
        executor.spawn {
            await executor.outside { for await _ in gate.stream {} }
            reply.withLock { $0 = true }
        }
        await executor.settle()
        DispatchQueue.global().async { gate.continuation.finish() }
        try await executor.eventually("the answer") { reply.withLock { $0 } }
        await #expect(throws: NeverHappened.self) { try await executor.eventually("another") { false } }
    }

    @Test(.timeLimit(.minutes(3))) func `Time goes on when an outside wait that began off the executor ends`() async throws {
        let (gate, begun) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let (executor, isOver) = (TestExecutor(), Locked(false))
        let outsider = Task {
            await executor.outside {
                begun.continuation.finish()
                for await _ in gate.stream {}
            }
        }
        for await _ in begun.stream {}
        executor.spawn {
            try? await executor.clock.sleep(for: .seconds(1))
            isOver.withLock { $0 = true }
        }
        await executor.settle()
        DispatchQueue.global().async { gate.continuation.finish() }
        try await executor.eventually("a second") { isOver.withLock { $0 } }
        await outsider.value
    }

    @Test func `A body that polls forever is given up as a livelock`() async throws {
        let error = await #expect(throws: Livelock.self) {
            try await TestExecutor().run(limit: 1_000) { _ in while !Task.isCancelled { await Task.yield() } }
        }
        #expect(error?.steps == 1_000)
        #expect(try #require(error).description.contains("something polls"))
        let rescheduling = await #expect(throws: Livelock.self) {
            try await TestExecutor().run(time: .automatic, limit: 1_000) { executor in
                while true { try await TestClock(executor.scheduler, label: "heartbeat").sleep(for: .seconds(30)) }
            }
        }
        #expect(rescheduling?.pending.map(\.label) == ["heartbeat"])
    }

    private static func poll(on executor: TestExecutor, until isOver: Locked<Bool>) {
        executor.spawn { if !isOver.withLock(\.self) { poll(on: executor, until: isOver) } }
    }

    @Test func `A task that polls forever without a body is given up and found at the test's end`() async throws {
        let isOver = Locked(false)
        let failure = try await failingTest { harness in
            let executor = harness.makeExecutor()
            Self.poll(on: executor, until: isOver)
            await executor.advance(by: .seconds(1))
            #expect(harness.scheduler.now == .seconds(1))
            isOver.withLock { $0 = true }
            await executor.settle()
            #expect(executor.readyCount == 0)
        }
        #expect(failure.findings.map(\.kind) == [.error])
        #expect(failure.findings.first?.text.contains("something polls") == true)
    }

    @Test func `A harness waits no longer than its patience beside a task that polls forever`() async throws {
        let (harness, isOver) = (TestHarness(), Locked(false))
        let executor = harness.makeExecutor()
        Self.poll(on: executor, until: isOver)
        func waitWithoutThreads() throws { try harness.eventually("more") { false } }
        let first = #expect(throws: NeverHappened.self) { try waitWithoutThreads() }
        let second = await #expect(throws: NeverHappened.self) {
            try await harness.eventually("more", patience: .milliseconds(20)) { false }
        }
        for error in [first, second] {
            #expect(error?.description.contains("on the harness's executor something polls and never comes to rest") == true)
        }
        isOver.withLock { $0 = true }
        await executor.settle()
        try harness.verify()
    }

    // MARK: Eventually

    @Test func `A condition is checked after each step, and time stops where it holds`() async throws {
        let count = Locked(0)
        let executor = TestExecutor()
        try await executor.run { executor in
            executor.spawn {
                for _ in 0..<5 {
                    try? await executor.clock.sleep(for: .seconds(1))
                    count.withLock { $0 += 1 }
                }
            }
            try await executor.eventually("three") { count.withLock { $0 } == 3 }
        }
        #expect(executor.scheduler.now == .seconds(3))
    }

    @Test func `A condition that nothing can make true fails at once`() async throws {
        let executor = TestExecutor()
        let error = await #expect(throws: NeverHappened.self) {
            try await executor.run { try await $0.eventually("the subscription") { false } }
        }
        #expect(error?.what == "the subscription")
        #expect(executor.scheduler.now == .origin)
        #expect(try #require(error).description.contains("the subscription never happened"))
    }

    @Test func `A condition that doesn't come true in time names the later timers`() async throws {
        let error = await #expect(throws: NeverHappened.self) {
            try await TestExecutor().run { executor in
                executor.spawn { while !Task.isCancelled { try? await executor.clock.sleep(for: .seconds(4)) } }
                try await executor.eventually("the answer", within: .seconds(10)) { false }
            }
        }
        #expect(error?.now == .seconds(8))
        #expect(error?.pending == [.init(label: "sleep", deadline: .seconds(12))])
        let text = try #require(error).description
        #expect(text.contains("the answer didn't happen within 10.0 seconds: it is 8.0 seconds now"))
    }

    @Test func `A condition has no longer than its limit while another task advances the clock beyond it`() async throws {
        try await TestExecutor().run { executor in
            let scheduler = executor.scheduler
            for second in [5, 7] { _ = scheduler.schedule(at: .seconds(second), label: "step") {} }
            async let longer: Void = executor.advance(by: .seconds(10))
            try await executor.eventually(within: .seconds(5)) { scheduler.now == .seconds(5) }
            await #expect(throws: NeverHappened.self) {
                try await executor.eventually(within: .seconds(1)) { scheduler.now > .seconds(5) }
            }
            #expect(scheduler.now == .seconds(5))
            await longer
            #expect(scheduler.now == .seconds(10))
        }
    }

    @Test func `Waits for conditions on an actor can depend on each other`() async throws {
        actor Board {
            var notes: Set<String> = []
            func add(_ note: String) { notes.insert(note) }
        }
        let board = Board()
        try await TestExecutor().run { executor in
            async let first: Void = {
                try await executor.eventually("b") { await board.notes.contains("b") }
                await board.add("c")
            }()
            async let second: Void = {
                try await executor.eventually("a") { await board.notes.contains("a") }
                await board.add("b")
            }()
            async let third: Void = executor.eventually("c") { await board.notes.contains("c") }
            await executor.settle()
            await board.add("a")
            _ = try await (first, second, third)
        }
    }

    @Test func `A canceled wait for a condition throws a CancellationError`() async throws {
        try await TestExecutor().run { executor in
            let errors = Locked<[String]>([])
            let task = executor.spawn {
                do { try await executor.eventually { false } } catch { errors.withLock { $0.append("\(error)") } }
            }
            _ = executor.scheduler.schedule(at: .seconds(4), label: "heartbeat") {}
            await executor.settle()
            task.cancel()
            await executor.advance(by: .seconds(4))
            #expect(errors.withLock { $0 } == ["CancellationError()"])
        }
    }

    @Test func `An error thrown by a condition is thrown by its wait`() async {
        struct Trouble: Error {}
        await #expect(throws: Trouble.self) { try await TestExecutor().run { try await $0.eventually { throw Trouble() } } }
    }
}

#endif
