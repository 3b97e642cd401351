import Dispatch
import PusherChannels
import TestSupport
import Testing

#if !canImport(Darwin)  // There, the lane needs a newer system than the package does.

struct LaneFailureTests {
    private func never() async {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    @Test func `A body that nothing can wake is a deadlock at once, and the timers are named`() async throws {
        let lane = Lane()
        let error = await #expect(throws: Deadlock.self) {
            try await lane.run { lane in
                _ = lane.scheduler.schedule(at: .seconds(30), label: "heartbeat") {}
                try await TestClock(lane.scheduler, label: "back-off").sleep(for: .seconds(3))
            }
        }
        #expect(error?.now == .origin)
        #expect(error?.pending.map(\.label) == ["back-off", "heartbeat"])
        let text = try #require(error).description
        for part in ["advance it", "back-off at 3.0 seconds, heartbeat at 30.0 seconds", "lane.outside"] {
            #expect(text.contains(part))
        }
    }

    @Test func `With nothing scheduled, a clock that runs by itself is no help`() async throws {
        let error = await #expect(throws: Deadlock.self) { try await Lane().run(time: .automatic) { _ in await never() } }
        #expect(try #require(error).description.contains("nothing is scheduled"))
    }

    @Test func `A wait for something outside is no deadlock`() async throws {
        let value = try await Lane().run { lane in
            await lane.outside {
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async { continuation.resume(returning: 7) }
                }
            }
        }
        #expect(value == 7)
    }

    @Test func `While something outside is waited for, time stands still unless it is told to move`() async throws {
        let gate = AsyncStream<Void>.makeStream()
        let lane = Lane()
        try await lane.run(time: .automatic) { lane in
            let timeout = lane.spawn { try? await lane.clock.sleep(for: .seconds(1)) }
            let answer = Locked(false)
            lane.spawn {
                await lane.outside { for await _ in gate.stream {} }
                answer.withLock { $0 = true }
            }
            await lane.settle()
            DispatchQueue.global().async { gate.continuation.finish() }
            try await lane.eventually("the answer") { answer.withLock { $0 } }
            #expect(lane.scheduler.now == .origin)
            await timeout.value
            #expect(lane.scheduler.now == .seconds(1))
        }
    }

    @Test func `What polls for ever is given up`() async throws {
        let error = await #expect(throws: Livelock.self) {
            try await Lane().run(limit: 1_000) { _ in while !Task.isCancelled { await Task.yield() } }
        }
        #expect(error?.steps == 1_000)
        #expect(try #require(error).description.contains("something polls"))
        let rescheduling = await #expect(throws: Livelock.self) {
            try await Lane().run(time: .automatic, limit: 1_000) { lane in
                while true { try await TestClock(lane.scheduler, label: "heartbeat").sleep(for: .seconds(30)) }
            }
        }
        #expect(rescheduling?.pending.map(\.label) == ["heartbeat"])
    }

    // MARK: Eventually

    @Test func `A condition is looked at after each step, and time stops where it holds`() async throws {
        let count = Locked(0)
        let lane = Lane()
        try await lane.run { lane in
            lane.spawn {
                for _ in 0..<5 {
                    try? await lane.clock.sleep(for: .seconds(1))
                    count.withLock { $0 += 1 }
                }
            }
            try await lane.eventually("three") { count.withLock { $0 } == 3 }
        }
        #expect(lane.scheduler.now == .seconds(3))
    }

    @Test func `A condition that nothing can make true fails at once`() async throws {
        let lane = Lane()
        let error = await #expect(throws: NeverHappened.self) {
            try await lane.run { lane in
                try await lane.eventually("the subscription") { false }
            }
        }
        #expect(error?.what == "the subscription")
        #expect(lane.scheduler.now == .origin)
        #expect(try #require(error).description.contains("the subscription never happened"))
    }

    @Test func `A condition that doesn't come true in time names the timers beyond`() async throws {
        let error = await #expect(throws: NeverHappened.self) {
            try await Lane().run { lane in
                lane.spawn { while !Task.isCancelled { try? await lane.clock.sleep(for: .seconds(4)) } }
                try await lane.eventually("the answer", within: .seconds(10)) { false }
            }
        }
        #expect(error?.now == .seconds(8))
        #expect(error?.pending == [.init(label: "sleep", deadline: .seconds(12))])
        #expect(try #require(error).description.contains("the answer didn't happen within 10.0 seconds, at 8.0 seconds"))
    }

    @Test func `Conditions that ask actors wait for each other's consequences`() async throws {
        actor Board {
            var notes: Set<String> = []
            func add(_ note: String) { notes.insert(note) }
        }
        let board = Board()
        try await Lane().run { lane in
            async let first: Void = {
                try await lane.eventually("b") { await board.notes.contains("b") }
                await board.add("c")
            }()
            async let second: Void = {
                try await lane.eventually("a") { await board.notes.contains("a") }
                await board.add("b")
            }()
            async let third: Void = lane.eventually("c") { await board.notes.contains("c") }
            await lane.settle()
            await board.add("a")
            _ = try await (first, second, third)
        }
    }

    @Test func `Who is cancelled looks no more`() async throws {
        try await Lane().run { lane in
            let errors = Locked<[String]>([])
            let task = lane.spawn {
                do { try await lane.eventually { false } } catch { errors.withLock { $0.append("\(error)") } }
            }
            _ = lane.scheduler.schedule(at: .seconds(4), label: "heartbeat") {}
            await lane.settle()
            task.cancel()
            await lane.advance(by: .seconds(4))
            #expect(errors.withLock { $0 } == ["CancellationError()"])
        }
    }

    @Test func `What a condition throws is thrown`() async {
        struct Trouble: Error {}
        await #expect(throws: Trouble.self) { try await Lane().run { try await $0.eventually { throw Trouble() } } }
    }
}

#endif
