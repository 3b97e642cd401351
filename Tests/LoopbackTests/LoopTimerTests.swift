#if os(Linux)
import Testing

@testable import PusherChannels

/// A timer runs only the action that was set last, if any.
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

    // MARK: Objects that an action retains

    // An action may hold the last reference to an object with its own timer.

    /// Returns a timer whose action holds the only reference to another timer, which is set, too.
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
