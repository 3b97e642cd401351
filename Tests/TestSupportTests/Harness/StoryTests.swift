import Dispatch
import Foundation
import Testing

@testable import TestSupport

/// The story that a harness tells about a failing test, and the harness's waits for conditions.
@Suite struct StoryTests {
    @Test func `The current harness is known only while its test runs`() async throws {
        #expect(TestHarness.current == nil)
        try withTestHarness { harness in #expect(TestHarness.current === harness) }
        try await withTestHarness { harness in
            await harness.stopServers()
            #expect(TestHarness.current === harness)
        }
        #expect(TestHarness.current == nil)
    }

    @Test func `A failed test without findings still tells the story`() throws {
        let harness = TestHarness()
        harness.timeline.note("note", "this happened")
        try harness.verify(hasFailed: false)
        let failure = #expect(throws: TestFailure.self) { try harness.verify(hasFailed: true) }
        #expect(failure?.description.hasPrefix("what happened in the harness made at StoryTests.swift:") == true)
        #expect(failure?.description.hasSuffix("note  this happened") == true)
    }

    @Test func `A wait in vain tells the place, the later timers, and the story with the state of each client`() throws {
        try withTestHarness(apps: [.local], allowing: [.pendingTimer]) { harness in
            let pusher = harness.makePusher(key: "another")
            let news = pusher.subscribe("news")
            pusher.connect()
            _ = harness.scheduler.schedule(at: .seconds(90), label: "reminder") {}
            let error = #expect(throws: NeverHappened.self) {
                try harness.eventually("news is subscribed", within: .seconds(30)) { news.subscribed }
            }
            let text = try #require(error?.description)
            #expect(text.hasPrefix("news is subscribed didn't happen within 30.0 seconds: it is "))
            #expect(text.contains("what is scheduled comes later: reminder at 90.0 seconds\nother threads had no time: "))
            #expect(text.contains("gives them some; at StoryTests.swift:"))
            #expect(text.contains("  server  connection 1 refused with 4001: App key another not in this cluster"))
            #expect(text.contains("\n  client  another at ") && text.contains("news: waits for a connection"))
        }
    }

    @Test func `A story told by the test's own error isn't repeated beside it`() throws {
        let harness = TestHarness()
        harness.makePusher().connect()
        let story = try #require(harness.untold(by: CancellationError()))
        #expect(story.hasPrefix("CancellationError()\nwhat happened in the harness made at StoryTests.swift:"))
        let waited = try #require(throws: NeverHappened.self) { try harness.eventually { false } }
        #expect(harness.untold(by: waited) == nil)
        harness.session.stub("GET /orders", .ok)
        let besides = try #require(harness.untold(by: waited))
        #expect(besides.hasPrefix("besides, the harness made at StoryTests.swift:"))
        #expect(besides.contains("unused stub: GET /orders") && !besides.contains("what happened"))
        #expect(throws: TestFailure.self) { try harness.verify() }
    }

    /// A delayed response isn't reported as one that was already given.
    @Test func `The report of a canceled test tells the scheduled timers and the story so far`() throws {
        try withTestHarness(allowing: [.pendingTimer]) { harness in
            harness.session.stub("GET /orders", .json(["tea"]).delayed(by: .seconds(2)))
            let asking = harness.session.dataTask(with: try URLRequest(line: "http://shop.example/orders")) { _, _, _ in }
            asking.resume()
            let standing = harness.standing("was cancelled")
            #expect(standing.hasPrefix("the test with the harness made at StoryTests.swift:"))
            #expect(standing.contains("scheduled: answer to GET /orders at 2.0 seconds; what happened:\n"))
            #expect(standing.contains("  answer  200 to GET http://shop.example/orders, in 2.0 seconds"))
            asking.cancel()
        }
    }

    @Test func `An answer that would come after its request's timeout is told as too late`() throws {
        try withTestHarness { harness in
            harness.session.stub("GET /orders", .json(["tea"]).delayed(by: .seconds(90)))
            let request = URLRequest(url: URL(string: "http://shop.example/orders")!, timeoutInterval: 30)
            harness.session.dataTask(with: request) { _, _, _ in }.resume()
            #expect(harness.story.hasSuffix("http://shop.example/orders, had its caller waited longer than 30.0 seconds"))
            harness.scheduler.advance(by: .seconds(30))
        }
    }

    /// An error that a stub's closure throws is in the body, which the client doesn't parse.
    @Test func `A backend error is told in the story with its reason, without secrets`() throws {
        struct NotAMember: Error {}
        try withTestHarness { harness in
            harness.session.stub("POST /pusher/auth") { _ in StubResponse { throw NotAMember() } }.times(1)
            harness.session.stub("GET /orders", StubResponse(status: 500, text: "no ?token=s3cret\nat line 1"))
            let pusher = harness.makePusher()
            pusher.subscribe("private-room")
            pusher.connect()
            try harness.session.ask("http://shop.example/orders")
            let told = harness.timeline.texts(of: "answer")
            #expect(told.first == "400 to POST http://localhost/pusher/auth, with NotAMember()", "\(told)")
            #expect(told.last?.hasPrefix("500 to GET http://shop.example/orders, with no ?token=") == true, "\(told)")
            #expect(!harness.story.contains("s3cret") && !harness.story.contains("at line 1"), "\(told)")
        }
    }

    @Test func `An event that a backend publishes to nobody is told in the story`() async throws {
        try await withTestHarness { harness in
            let pusher = harness.makePusher()
            pusher.subscribe("news")
            pusher.connect()
            let world = harness.pusherEnvironment()
            let api = PusherHTTPAPI(appID: "1", key: "local-key", secret: "local-secret", environment: world)
            try await api.trigger(channels: ["nwes", "news"], eventName: "headline", data: "{}")
            #expect(harness.timeline.texts(of: "server") == ["published headline on nwes to nobody"])
        }
    }

    @Test func `The story of a canceled test isn't repeated with its cancellation error`() async throws {
        let harness = TestHarness()
        harness.timeline.note("note", "this happened")
        let ending = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return harness.untold(by: CancellationError())
        }
        #expect(await ending.value == nil)
        #expect(harness.untold(by: CancellationError()) != nil)
        try harness.verify()
    }

    @Test func `A wait in vain on an executor says that no other thread is waited for`() async throws {
        try await withTestHarness(allowing: [.pendingTimer]) { harness in
            let executor = harness.makeExecutor()
            let error = try await executor.run { _ in
                await #expect(throws: NeverHappened.self) { try await harness.eventually("it", within: .zero) { false } }
            }
            let text = try #require(error?.description)
            #expect(text.hasPrefix("it never happened: at 0.0 seconds nothing is ready or scheduled\non an executor no other "))
            #expect(text.contains("wait without an executor; at StoryTests.swift:"))
        }
    }

    @Test func `A finding that is the test's own error isn't repeated beside it`() async throws {
        let harness = TestHarness()
        let error = try await #require(throws: UnmatchedRequest.self) {
            _ = try await harness.session.response(to: URLRequest(url: URL(string: "http://shop.example/orders")!))
        }
        let text = try #require(harness.untold(by: error))
        #expect(text.contains("\nwhat happened in the harness made at ") && !text.contains("besides"))
        #expect(throws: TestFailure.self) { try harness.verify() }
    }

    @Test func `A wait off an executor waits for other threads without moving time`() async throws {
        try await withTestHarness { harness in
            let pusher = harness.makePusher { $0.delivery = .queue(DispatchQueue(label: "app")) }
            let heard = Locked<[String]>([])
            pusher.bind { event in heard.withLock { $0.append(event.eventName) } }
            pusher.subscribe("news")
            pusher.connect()
            harness.server.publish(channel: "news", event: "headline", data: "{}")
            try await harness.eventually("the headline is heard", within: .zero) { heard.withLock { $0.last } == "headline" }
            #expect(harness.scheduler.now == .origin)
        }
    }

    /// A response that arrives late may make such a timer.
    @Test func `A wait off an executor runs a timer that another thread makes late`() async throws {
        try await withTestHarness { harness in
            let (looks, isDone) = (Locked(0), Locked(false))
            try await harness.eventually("it is done", within: .seconds(10), patience: .seconds(60)) {
                looks.withLock { $0 += 1 }
                // By now, the checks that come before time moves are over.
                if looks.withLock(\.self) == 20 {
                    _ = harness.scheduler.schedule(at: .seconds(3), label: "late") { isDone.withLock { $0 = true } }
                }
                return isDone.withLock(\.self)
            }
            #expect(harness.scheduler.now == .seconds(3))
        }
    }

    /// A retry without a delay is an example.
    @Test func `A timer that always makes another for the same time is found and given up`() throws {
        let failure = try failingTest(allowing: [.pendingTimer]) { harness in
            let scheduler = harness.scheduler
            // The reference is weak, because the leftover timer must keep nothing alive.
            @Sendable func again(_ scheduler: TestScheduler?) {
                _ = scheduler?.schedule(at: .origin, label: "again") { [weak scheduler] in again(scheduler) }
            }
            again(scheduler)
            scheduler.advance(by: .seconds(1))
            #expect(scheduler.now == .seconds(1))
        }
        #expect(failure.findings.map(\.kind) == [.error])
        #expect(failure.description.contains("livelock at 0.0 seconds: no rest after 100000 jobs and timers"))
    }

    @Test func `A wait in vain off an executor says how long other threads had`() async throws {
        try await withTestHarness { harness in
            let error = await #expect(throws: NeverHappened.self) {
                try await harness.eventually("it happens", patience: .zero) { false }
            }
            let text = error?.description ?? ""
            #expect(text.hasPrefix("it happens never happened: at 0.0 seconds nothing is ready or scheduled"))
            #expect(text.contains("\nother threads had 0.0 seconds of real time at least; at StoryTests.swift:"))
            #expect(text.contains("nothing had happened: no client, request, or timer was the harness's."), "\(text)")
            #expect(text.contains("`harness.pusherEnvironment()` for a client that it makes itself"), "\(text)")
        }
    }

    @Test func `A condition may itself wait for a timer or for an executor's job`() async throws {
        try await withTestHarness { harness in
            let patience = Duration.milliseconds(100)
            try await harness.eventually("three seconds are over", within: .seconds(10), patience: patience) {
                try await harness.clock.sleep(for: .seconds(3))
                return true
            }
            #expect(harness.scheduler.now == .seconds(3))
            let executor = harness.makeExecutor()
            let task: Task<Void, Never> = executor.spawn {}
            try await harness.eventually("the job is done", within: .zero, patience: patience) {
                await task.value
                return true
            }
            withExtendedLifetime(executor) {}
        }
    }

    @Test func `A condition that never answers is given up and canceled`() async throws {
        try await withTestHarness { harness in
            let (isOver, signal) = AsyncStream<Never>.makeStream()
            let error = await #expect(throws: NeverHappened.self) {
                try await harness.eventually("it happens", within: .seconds(10), patience: .milliseconds(20)) {
                    try? await harness.clock.sleep(for: .seconds(20))
                    signal.finish()
                    return true
                }
            }
            let text = "the condition itself waits for something, and had 0.02 seconds of real time"
            #expect(error?.description.contains(text) == true)
            for await _ in isOver {}
            #expect(harness.scheduler.now == .origin)
        }
    }
}

/// Time that waits for tasks which no executor runs.
@Suite struct AdvanceTests {
    @Test(arguments: 0..<20) func `An advance wakes a task from every sleep that ends within it`(_: Int) async throws {
        try await withTestHarness { harness in
            let naps = Locked(0)
            let task = Task {
                for _ in 0..<3 {
                    try await harness.clock.sleep(for: .seconds(1))
                    naps.withLock { $0 += 1 }
                }
            }
            try await harness.advance(by: .seconds(3))
            #expect(naps.withLock(\.self) == 3)
            try await task.value
        }
    }

    @MainActor @Test(arguments: [false, true]) func `An advance and a wait give the main actor its turn`(waits: Bool) async throws
    {
        try await withTestHarness { harness in
            let naps = Locked(0)
            Task { @MainActor in
                for _ in 0..<2 {
                    try await harness.clock.sleep(for: .seconds(1))
                    naps.withLock { $0 += 1 }
                }
            }
            if waits {
                try await harness.eventually("both are over") { naps.withLock(\.self) == 2 }
            } else {
                try await harness.advance(by: .seconds(2))
            }
            #expect(naps.withLock(\.self) == 2)
        }
    }

    @Test func `A wait wakes a task of another priority from every sleep that it needs`() async throws {
        try await withTestHarness { harness in
            let naps = Locked(0)
            let task = Task(priority: .background) {
                for _ in 0..<3 {
                    try await harness.clock.sleep(for: .seconds(1))
                    naps.withLock { $0 += 1 }
                }
            }
            try await harness.eventually("it has slept", within: .seconds(3), patience: .seconds(60)) {
                naps.withLock(\.self) == 3
            }
            try await task.value
        }
    }

    @Test func `A main thread whose turn came just before it was given up isn't taken for blocked`() {
        var turns = MainTurns()
        let asked = [turns.ask(), turns.ask()]
        #expect(asked == [1, 2])
        turns.came(1)
        turns.giveUp(1)
        #expect(!turns.isBlocked)
        turns.giveUp(2)
        let whileBlocked = turns.ask()
        #expect(whileBlocked == nil)
        turns.came(2)
        let afterwards = turns.ask()
        #expect(afterwards == 3)
    }

    @Test(arguments: [false, true])
    func `An advance and a wait on an executor run the executor's tasks`(waits: Bool) async throws {
        try await withTestHarness { harness in
            let naps = Locked(0)
            try await harness.makeExecutor().run { executor in
                let task = executor.spawn {
                    try? await harness.clock.sleep(for: .seconds(20))
                    naps.withLock { $0 += 1 }
                }
                if waits {
                    try await harness.eventually("it is done") { naps.withLock(\.self) == 1 }
                } else {
                    try await harness.advance(by: .seconds(20))
                }
                #expect(naps.withLock(\.self) == 1)
                await task.value
            }
            #expect(harness.scheduler.now == .seconds(20))
        }
    }

    @Test func `Two advances at once fail the test`() async throws {
        await #expect(throws: TestFailure.self) {
            try await withTestHarness { harness in
                let clock = harness.clock
                async let first: Void = harness.advance(by: .seconds(2))
                async let second: Void = harness.advance(by: .seconds(2))
                _ = try await (first, second, clock.now)
            }
        }
    }
}
