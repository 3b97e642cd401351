import PusherChannels
import TestSupport
import Testing

/// When the next attempt is made, for those who ask.
@Suite struct NextAttemptTests {
    /// A clock that is ahead of its timers, as after a sleep of the machine.
    private struct LateScheduler: Scheduler {
        struct Forgotten: ScheduledAction {
            func cancel() {}
        }

        let time = Locked(Instant.origin)

        var now: Instant { time.withLock { $0 } }

        func schedule(at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void) -> any ScheduledAction {
            Forgotten()
        }
    }

    // Proves P5.12.
    @Test func anAttemptThatIsOverdueIsDueNow() throws {
        let scheduler = LateScheduler()
        let socket = MockWebSocket()
        let policy = ReconnectPolicy(initialDelay: .seconds(100))
        let pusher = Pusher(
            key: "key", options: PusherClientOptions(reconnectPolicy: policy, delivery: .immediate),
            environment: PusherEnvironment(scheduler: scheduler, makeWebSocket: { socket }, randomSeed: { 1 }))
        pusher.connect()
        #expect(pusher.connection.timeToNextAttempt == nil)
        socket.drop()
        let time = try #require(pusher.connection.timeToNextAttempt)
        #expect(time > .zero)
        scheduler.time.withLock { $0 += time / 2 }
        #expect(pusher.connection.timeToNextAttempt == time - time / 2)
        scheduler.time.withLock { $0 += .seconds(1_000) }
        #expect(pusher.connection.timeToNextAttempt == .zero)
    }
}
