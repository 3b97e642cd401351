import TestSupport
import Testing

struct TestSchedulerTests {
    let scheduler = TestScheduler()
    let log = Locked<[String]>([])

    private func schedule(_ label: String, at deadline: Instant) -> any ScheduledAction {
        scheduler.schedule(at: deadline, label: label) { [log, weak scheduler] in
            log.withLock { $0.append("\(label)@\(scheduler?.now.sinceOrigin.components.seconds ?? -1)") }
        }
    }

    private var entries: [String] { log.withLock { $0 } }

    @Test func `Timers run at their deadlines, and those of the same deadline in order of creation`() {
        for (label, second) in [("c", 3), ("a", 1), ("b1", 2), ("b2", 2), ("d", 4)] {
            _ = schedule(label, at: .seconds(second))
        }
        scheduler.advance(by: .seconds(3))
        #expect(entries == ["a@1", "b1@2", "b2@2", "c@3"])
        #expect(scheduler.now == .seconds(3))
        #expect(scheduler.pendingTimers == [.init(label: "d", deadline: .seconds(4))])
    }

    @Test func `An overdue timer runs with the next advance, and the clock never goes back`() {
        scheduler.advance(by: .seconds(10))
        _ = schedule("late", at: .seconds(5))
        scheduler.advance(to: .seconds(1))
        #expect(entries == ["late@10"])
        #expect(scheduler.now == .seconds(10))
    }

    @Test func `A timer scheduled by another timer within an advance runs in the same advance`() {
        _ = scheduler.schedule(at: .seconds(1), label: "first") { [self] in
            _ = schedule("inner", at: .seconds(2))
            _ = schedule("beyond", at: .seconds(9))
        }
        scheduler.advance(by: .seconds(3))
        #expect(entries == ["inner@2"])
        #expect(scheduler.pendingTimers.map(\.label) == ["beyond"])
    }

    @Test func `A canceled timer neither runs nor stays pending`() {
        let cancelled = schedule("cancelled", at: .seconds(1))
        let kept = schedule("kept", at: .seconds(1))
        cancelled.cancel()
        #expect(scheduler.pendingTimers.map(\.label) == ["kept"])
        scheduler.advance(by: .seconds(1))
        kept.cancel()
        #expect(entries == ["kept@1"])
    }

    @Test func `A timer may cancel the next one of the same deadline`() {
        let next = Locked<(any ScheduledAction)?>(nil)
        _ = scheduler.schedule(at: .seconds(1), label: "first") { next.withLock { $0 }?.cancel() }
        next.withLock { $0 = schedule("second", at: .seconds(1)) }
        scheduler.advance(by: .seconds(2))
        #expect(entries.isEmpty)
    }

    @Test func `Running until idle moves the clock from timer to timer and returns their number`() throws {
        _ = schedule("day", at: .seconds(86_400))
        _ = schedule("hour", at: .seconds(3_600))
        #expect(try scheduler.runUntilIdle(limit: 2) == 2, "as many as the limit")
        #expect(entries == ["hour@3600", "day@86400"])
        #expect(scheduler.now == .seconds(86_400))
    }

    @Test func `Running until idle names a timer that always schedules itself again`() {
        let heartbeat = scheduler.schedule(every: .seconds(1), label: "heartbeat") {}
        let error = #expect(throws: Livelock.self) { try scheduler.runUntilIdle(limit: 50) }
        #expect(error?.steps == 50)
        #expect(error?.description.contains("heartbeat at 51.0 seconds") == true)
        heartbeat.cancel()
    }

    @Test func `Twenty thousand timers, half of them canceled, run in order`() {
        var state: UInt64 = 42
        var deadlines: [Instant] = []
        let ran = Locked<[Instant]>([])
        for index in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let deadline = Instant.milliseconds(Int(state >> 44))
            let timer = scheduler.schedule(at: deadline, label: "t") { [scheduler] in ran.withLock { $0.append(scheduler.now) } }
            if index.isMultiple(of: 2) { timer.cancel() } else { deadlines.append(deadline) }
        }
        scheduler.advance(by: .milliseconds(1 << 20))
        let inOrder = ran.withLock { $0 } == deadlines.sorted()
        #expect(inOrder)
        #expect(scheduler.pendingTimers.isEmpty)
    }

    @Test func `Timers may be made and canceled from many threads while the clock runs`() async {
        let ran = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [scheduler] in
                    for index in 0..<500 {
                        let timer = scheduler.schedule(at: .milliseconds(index), label: "t") { ran.withLock { $0 += 1 } }
                        if index.isMultiple(of: 5) { timer.cancel() }
                        scheduler.advance(by: .milliseconds(1))
                    }
                }
            }
        }
        scheduler.advance(by: .seconds(10))
        #expect(scheduler.pendingTimers.isEmpty)
        // A cancelled timer may have run on another thread before; none of the others is ever lost.
        #expect(ran.withLock { $0 } >= 8 * 400)
    }
}
