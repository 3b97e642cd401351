#if os(Linux)
import Testing

@testable import PusherChannels

/// A timer does what it was set to last, if anything.
@Suite struct LoopTimerTests {
    private final class Log {
        var rung: [String] = []
    }

    @Test func onlyWhatWasSetLastHappens() {
        let (timers, log) = (LoopTimers(now: { LiveScheduler.now }), Log())
        let timer = timers.makeTimer()
        timer.set(after: .zero) { log.rung.append("before") }
        timer.set(after: .zero) { log.rung.append("after") }
        timers.runDue()
        #expect(log.rung == ["after"])
    }

    @Test func aTimerThatGoesDoesNothing() {
        let (timers, log) = (LoopTimers(now: { LiveScheduler.now }), Log())
        timers.makeTimer().set(after: .zero) { log.rung.append("nobody's") }
        timers.runDue()
        #expect(log.rung == [])
    }

    // MARK: What is held by what was to happen

    // It may have the last reference to something with a timer of its own.

    /// A timer whose action alone holds another timer, which is set, too.
    private func timerThatHoldsAnother(of timers: LoopTimers) -> LoopTimer {
        let (timer, inner) = (timers.makeTimer(), timers.makeTimer())
        inner.set(after: .seconds(60)) {}
        timer.set(after: .seconds(60)) { withExtendedLifetime(inner) {} }
        return timer
    }

    @Test func oneIsCancelled() {
        let timers = LoopTimers(now: { LiveScheduler.now })
        timerThatHoldsAnother(of: timers).cancel()
        timers.runDue()
    }

    @Test func oneIsSetAgain() {
        let timers = LoopTimers(now: { LiveScheduler.now })
        let timer = timerThatHoldsAnother(of: timers)
        timer.set(after: .seconds(60)) {}
        timer.cancel()
    }
}
#endif
