import Testing

@testable import TestSupport

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
