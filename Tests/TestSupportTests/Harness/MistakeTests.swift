import Dispatch
import Foundation
import Testing

@testable import TestSupport

/// Mistakes in tests: the right test fails, and says what to do.
@Suite struct MistakeTests {
    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `A repeating timer with an interval of zero or less is refused`(interval: Duration) throws {
        let text = try failingTest { harness in
            _ = harness.scheduler.schedule(every: interval, label: "poll") { Issue.record("it ran") }
            harness.scheduler.advance(by: .seconds(3))
            #expect(harness.scheduler.now == .seconds(3))
        }.description
        #expect(text.contains("poll, made at MistakeTests.swift:"))
        #expect(text.contains("repeats every \(interval) and would never end: give it an interval"))
    }

    @Test func `A negative advance and a negative delay are reported`() async throws {
        let failure = try await failingTest { harness in
            harness.scheduler.advance(by: .seconds(-2))
            try await harness.advance(by: .seconds(-3))
            harness.session.stub("GET /orders", .ok.delayed(by: .seconds(-1)))
            try harness.session.ask("http://shop.example/orders")
        }
        let text = failure.description
        #expect(failure.findings.count == 3, "\(text)")
        #expect(text.contains("advance(by: -2.0 seconds) at MistakeTests.swift:"))
        #expect(text.contains("advance(by: -3.0 seconds) at MistakeTests.swift:"))
        #expect(text.contains("the answer to GET http://shop.example/orders is delayed by -1.0 seconds"))
    }

    @Test func `An advance or a wait that never ends is given up`() async throws {
        let failure = try await failingTest(allowing: [.pendingTimer], stuckAfter: .milliseconds(50)) { harness in
            _ = harness.scheduler.schedule(every: .nanoseconds(1), label: "poll") {}
            harness.scheduler.advance(by: .seconds(3_600))
            try await harness.advance(by: .seconds(3_600))
            let steps = Result { try harness.scheduler.runUntilIdle(limit: .max) }
            let never = await Task { try await harness.eventually(within: .seconds(3_600)) { false } }.result
            for error in [steps.failure, never.failure] { #expect(error is Livelock || error is NeverHappened) }
            #expect(harness.scheduler.now < .seconds(1))
        }
        #expect(failure.findings.count == 2)
        #expect(failure.description.contains("was given up at"))
        #expect(failure.description.contains("pending: poll at"))
    }

    private final class Again: PusherDelegate, Sendable {
        let pusher = Locked<Pusher?>(nil)
        let times = Locked(0)

        func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
            guard new == .disconnected else { return }
            times.withLock { $0 += 1 }
            pusher.withLock(\.self)?.connect()
        }
    }

    @Test func `A client that reconnects from its own callback is stopped after a thousand times`() throws {
        let failure = try failingTest(apps: [.local], allowing: [.openSocket, .pendingTimer, .leak]) { harness in
            let (pusher, again) = (harness.makePusher(key: "another"), Again())
            again.pusher.withLock { $0 = pusher }
            pusher.delegate = again
            pusher.connect()
            #expect(again.times.withLock(\.self) == 1_000)
            again.pusher.withLock { $0 = nil }
            pusher.disconnect()
        }
        #expect(failure.description.contains("is opened for the 1001th time at 0.0 seconds"))
    }

    @Test func `A harness within another's test is reported, also if it is made by hand`() throws {
        try withTestHarness { (_) throws in
            let byHand = TestHarness()
            byHand.scheduler.advance(by: .seconds(1))
            for failure in [try failingTest { _ in }, try #require(throws: TestFailure.self) { try byHand.verify() }] {
                #expect(failure.description.contains("within the test of the one made at MistakeTests.swift:"))
            }
        }
    }

    @Test func `A harness verified by hand gives its hosts back`() throws {
        let (first, second) = (TestHarness(allowing: [.error]), TestHarness(allowing: [.error]))
        try first.session.intercept(.shared, hosts: "by-hand.example")
        #expect(throws: HostIsIntercepted.self) { try second.session.intercept(.shared, hosts: "by-hand.example") }
        try first.verify()
        try second.session.intercept(.shared, hosts: "by-hand.example")
        try second.verify()
    }

    @Test func `Whatever uses a verified harness fails the test in which it comes, with the place`() async throws {
        let harness = TestHarness()
        try harness.verify()
        let failure = try await failingTest { _ in
            _ = harness.scheduler.schedule(at: .seconds(1), label: "reminder") {}
            harness.server.publish(channel: "news", event: "headline", data: "{}")
            harness.scheduler.advance(by: .seconds(1))
            try await harness.advance(by: .seconds(1))
            try await harness.eventually { true }
        }
        #expect(failure.findings.count == 5)
        for use in ["timer reminder", "publish of headline on news", "advance", "eventually"] {
            #expect(failure.description.contains("had ended when this came: \(use) at MistakeTests.swift:"))
        }
    }

    @Test func `A harness that two test cases share fails the second`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let harness = TestHarness()
            try harness.verify()
            harness.scheduler.advance(by: .seconds(1))
            let failure = #expect(throws: TestFailure.self) { try harness.verify() }
            writeToStandardError("the second: \(failure?.findings.first?.description ?? "passed")")
            exit(EXIT_SUCCESS)
        }
        let text = result?.said ?? ""
        #expect(text.contains("the second: error: the harness made at MistakeTests.swift:"))
        #expect(text.contains("end it there, or make one for each test"))
    }

    @Test func `A request to an earlier test's session fails the test in which it comes`() throws {
        let harness = try withTestHarness(allowing: [.unusedStub]) { harness in
            harness.session.stub("GET /orders", .ok)
            return harness
        }
        let failure = try failingTest { _ in
            let answer = try harness.session.ask("http://shop.example/orders").withLock(\.self)
            #expect(answer?.first?.isNumber != true, "no response, but at most an error")
        }
        let late = "had ended when this came: request GET http://shop.example/orders. A task, a client, or a static"
        #expect(failure.description.contains(late))
    }

    @Test func `A harness used after its end outside any test fails the run`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let pusher = try withTestHarness(allowing: [.leak]) { $0.makePusher() }
            pusher.connect()
            exit(EXIT_SUCCESS)
        }
        let text = result?.said ?? ""
        #expect(text.contains("had ended when this came: opened"))
        #expect(text.contains("this run fails: a harness was used after its end, see above"))
    }

    @Test func `A test whose thread is blocked ends the process with a report`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TestHarness.grace.withLock { $0 = .milliseconds(100) }
            try withTestHarness(stuckAfter: .milliseconds(100)) { harness in
                harness.timeline.note("note", "this happened")
                blockForEver()
            }
        }
        let text = result?.said ?? ""
        #expect(text.contains("the test with the harness made at MistakeTests.swift:"))
        #expect(text.contains("was stuck; virtual time is 0.0 seconds") && text.contains("note  this happened"))
        #expect(text.contains("a thread is blocked, or never comes to rest"))
    }

    @Test func `A test case that blocks the main thread ends the process with a report, too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TestHarness.grace.withLock { $0 = .milliseconds(100) }
            let harness = TestHarness(stuckAfter: .milliseconds(100))
            await MainActor.run {
                harness.scheduler.advance(by: .seconds(1))
                withExtendedLifetime(harness) { blockForEver() }
            }
        }
        let text = result?.said ?? ""
        #expect(text.contains("was stuck; virtual time is 1.0 seconds") && text.contains("has not called `verify()`"))
    }

    @Test func `Two threads that move the clock at once are reported with the places, whatever they call`() async throws {
        @Sendable func waitWithoutThreads(_ harness: TestHarness) throws {
            try harness.eventually { harness.scheduler.now == .seconds(1) }
        }
        let moves: [@Sendable (TestHarness) async throws -> Void] = [
            { harness in harness.scheduler.advance(by: .seconds(1)) },
            { harness in _ = try harness.scheduler.runUntilIdle() },
            { harness in try waitWithoutThreads(harness) },
            { harness in try await harness.advance(by: .seconds(1)) },
            { harness in try await harness.eventually { harness.scheduler.now == .seconds(1) } },
        ]
        for move in moves {
            let failure = try await failingTest { harness in
                _ = harness.scheduler.schedule(at: .seconds(1), label: "step") {
                    let ended = DispatchSemaphore(value: 0)
                    Thread {
                        harness.scheduler.advance(by: .zero)
                        ended.signal()
                    }.start()
                    ended.wait()
                }
                try await move(harness)
            }
            #expect(failure.description.contains("two threads advanced the clock at once, at MistakeTests.swift:"))
        }
    }

    @Test func `A timer or a condition may advance the clock by which it came, and two threads may in turn`() async throws {
        try await withTestHarness { harness in
            for second in [1, 3] {
                _ = harness.scheduler.schedule(at: .seconds(second), label: "step") { harness.scheduler.advance(by: .seconds(1)) }
            }
            try await harness.advance(by: .seconds(1))
            harness.scheduler.advance(by: .seconds(1))
            let (turns, turn) = AsyncStream<Never>.makeStream()
            Thread {
                harness.scheduler.advance(by: .seconds(1))
                turn.finish()
            }.start()
            for await _ in turns {}
            #expect(harness.scheduler.now == .seconds(5))
            try await harness.eventually {
                harness.scheduler.advance(by: .seconds(1))
                return harness.scheduler.now >= .seconds(6)
            }
        }
    }

    @Test func `Two tasks may wait at once`() async throws {
        try await withTestHarness { harness in
            async let one: Void = harness.eventually("one") { harness.scheduler.now >= .seconds(1) }
            async let other: Void = harness.eventually("the other") { harness.scheduler.now >= .seconds(2) }
            for second in 1...2 { _ = harness.scheduler.schedule(at: .seconds(second), label: "step") {} }
            _ = try await (one, other)
        }
    }

    #if LocalServer
    @Test func `Advancing the clock of a harness with a real server is reported`() async throws {
        let failure = try await failingTest { harness in
            _ = try await harness.startServer()
            harness.scheduler.advance(by: .seconds(30))
        }
        #expect(failure.description.contains("a real server and its clients live in real time"))
    }

    @Test func `Code that takes the harness's date may have it advanced beside a real server`() async throws {
        try await withTestHarness { harness in
            _ = try await harness.startServer()
            let now = harness.environment.now.function
            harness.scheduler.advance(by: .seconds(30))
            #expect(now() == Date(timeIntervalSinceReferenceDate: 30))
        }
    }
    #endif

    @Test func `Many timers made at one place are one finding`() throws {
        let failure = try failingTest { harness in
            for second in 1...10_000 { _ = harness.scheduler.schedule(at: .seconds(second), label: "reminder") {} }
            _ = harness.scheduler.schedule(at: .seconds(7), label: "alarm") {}
        }
        #expect(failure.findings.count == 2)
        let reminders = "pending timer: reminder at 1.0 seconds and 9999 more, made at MistakeTests.swift:"
        #expect(failure.description.contains(reminders))
        #expect(failure.description.contains("pending timer: alarm at 7.0 seconds, made at MistakeTests.swift:"))
    }

    // MARK: Findings and errors

    private struct Trouble: Error {}

    @Test func `A test's findings are added to the error that ends it`() async throws {
        let deadlock = await #expect(throws: Deadlock.self) {
            try await withTestHarness { harness in
                let pusher = harness.makePusher()
                let news = pusher.subscribe("news").events(named: "headline")
                harness.server.publish(channel: "news", event: "headline", data: "1")
                pusher.connect()
                _ = try await harness.makeExecutor().run { _ in try await news.first { _ in true } }
            }
        }
        #expect(deadlock?.description.contains("unheard: headline on news, published at MistakeTests.swift:") == true)
        #expect(deadlock?.description.contains("what happened:\n") == true)
        let failure = try await failingTest(stuckAfter: .seconds(60)) { harness in
            harness.record("the callback came twice")
            throw Trouble()
        }
        #expect(failure.description.hasPrefix("Trouble()\nbesides, the harness made at MistakeTests.swift:"))
        #expect(failure.description.contains("error: the callback came twice"))
        #expect(throws: Trouble.self) {
            try withTestHarness(allowing: [.unusedStub]) { harness in
                harness.session.stub("GET /a", .ok)
                throw Trouble()
            }
        }
    }

    @Test func `A CancellationError hides the findings of a test only if the test is canceled`() async throws {
        @Sendable func test() throws {
            try withTestHarness { harness in
                harness.record("the callback came twice")
                throw CancellationError()
            }
        }
        let failure = #expect(throws: TestFailure.self) { try test() }
        #expect(failure?.description.hasPrefix("CancellationError()\nbesides, the harness made at MistakeTests.swift:") == true)
        let canceled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try test()
        }
        await #expect(throws: CancellationError.self) { try await canceled.value }
    }

    @Test func `XCTest is told the story once, and again only if more has happened than that a client has gone`() throws {
        let harness = TestHarness()
        do {
            let pusher = harness.makePusher()
            harness.timeline.note("note", "this happened")
            #expect(throws: NeverHappened.self) { try harness.eventually { false } }
            withExtendedLifetime(pusher) {}
        }
        try harness.verify(hasFailed: true)
        harness.timeline.note("note", "and this")
        #expect(throws: TestFailure.self) { try harness.verify(hasFailed: true) }
    }
}

/// Blocks the thread, as a semaphore that nobody signals does.
private func blockForEver() { DispatchSemaphore(value: 0).wait() }

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

@Suite struct WatchdogTests {
    @Test(arguments: [Duration.zero, .milliseconds(1), .milliseconds(1_500)])
    func `A watchdog fires when its patience is over, not before`(patience: Duration) async {
        let (barks, signal) = AsyncStream<Void>.makeStream()
        let clock = ContinuousClock()
        let start = clock.now
        let watchdog = Watchdog(patience: patience) { signal.yield() }
        for await _ in barks { break }
        #expect(clock.now - start >= patience)
        withExtendedLifetime(watchdog) {}
    }

    @Test func `A watchdog fires no sooner if all threads of the task pool are blocked`() async {
        await #expect(processExitsWith: .success) {
            for priority in [TaskPriority.high, .medium, .low, .background] {
                for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                    Task.detached(priority: priority) { blockForEver() }
                }
            }
            let (clock, patience) = (ContinuousClock(), Duration.milliseconds(1_500))
            let start = clock.now
            _ = Watchdog(patience: patience, turnLimit: .milliseconds(1)) {
                _exit(clock.now - start >= patience ? EXIT_SUCCESS : EXIT_FAILURE)
            }
            blockForEver()
        }
    }

    @Test func `A watchdog that is called off releases everything it holds`() {
        final class Token: Sendable {}
        weak var held: Token?
        do {
            let token = Token()
            held = token
            let watchdog = Watchdog(patience: .seconds(86_400)) { withExtendedLifetime(token) {} }
            watchdog.callOff()
            watchdog.callOff()
        }
        #expect(held == nil)
    }
}
