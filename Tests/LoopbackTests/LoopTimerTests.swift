#if os(Linux)
import Testing

@testable import PusherChannels

/// What a timer would have done may have the last reference to something with a timer of its own.
@Suite struct LoopTimerTests {
    /// A timer whose action alone holds another timer, which is set, too.
    private func timerThatHoldsAnother(of timers: LoopTimers) -> LoopTimer {
        let (timer, inner) = (timers.makeTimer(), timers.makeTimer())
        inner.set(after: .seconds(60)) {}
        timer.set(after: .seconds(60)) { withExtendedLifetime(inner) {} }
        return timer
    }

    @Test func allAreForgottenAtOnce() {
        let timers = LoopTimers()
        let timer = timerThatHoldsAnother(of: timers)
        timers.removeAll()
        timer.cancel()
        timers.runDue()
    }

    @Test func oneIsCancelled() {
        let timers = LoopTimers()
        timerThatHoldsAnother(of: timers).cancel()
        timers.runDue()
    }

    @Test func oneIsSetAgain() {
        let timers = LoopTimers()
        let timer = timerThatHoldsAnother(of: timers)
        timer.set(after: .seconds(60)) {}
        timer.cancel()
    }
}
#endif
