import Dispatch
import TestSupport
import Testing

@Suite struct TestSchedulerTimerTests {
    @Test func `A repeating timer runs at its deadlines until it is canceled`() {
        let scheduler = TestScheduler()
        let times = Locked<[Instant]>([])
        let timer = scheduler.schedule(every: .seconds(2), label: "poll") { times.withLock { $0.append(scheduler.now) } }
        scheduler.advance(by: .seconds(5))
        #expect(times.withLock { $0 } == [.seconds(2), .seconds(4)])
        #expect(scheduler.pendingTimers.map(\.description) == ["poll at 6.0 seconds"])
        timer.cancel()
        scheduler.advance(by: .seconds(5))
        #expect(times.withLock(\.count) == 2)
        #expect(scheduler.pendingTimers.isEmpty)
    }

    @Test func `A repeating timer may cancel itself`() {
        let scheduler = TestScheduler()
        let state = Locked<(count: Int, timer: (any ScheduledAction)?)>((0, nil))
        let timer = scheduler.schedule(every: .seconds(1), label: "poll") {
            let timer = state.withLock { state in
                state.count += 1
                return state.count == 3 ? state.timer : nil
            }
            timer?.cancel()
        }
        state.withLock { $0.timer = timer }
        scheduler.advance(by: .seconds(10))
        #expect(state.withLock(\.count) == 3)
        #expect(scheduler.pendingTimers.isEmpty)
        state.withLock { $0.timer = nil }
    }

    @Test func `Timers of a queue's scheduler run on the queue before the advance returns`() {
        let queue = DispatchQueue(label: "a user's")
        let scheduler = TestScheduler(on: queue)
        let ran = Locked<[Instant]>([])
        for second in [3, 1] {
            _ = scheduler.schedule(at: .seconds(second), label: "t") {
                dispatchPrecondition(condition: .onQueue(queue))
                ran.withLock { $0.append(scheduler.now) }
            }
        }
        scheduler.advance(by: .seconds(2))
        #expect(ran.withLock { $0 } == [.seconds(1)])
        // A caller that is already on the queue must not wait for itself.
        queue.sync { scheduler.advance(by: .seconds(2)) }
        #expect(ran.withLock { $0 } == [.seconds(1), .seconds(3)])
    }
}
