import TestSupport
import Testing

@testable import PusherChannels

@Suite struct NextAttemptTests {
    /// A clock that is ahead of its timers, as after the machine has slept.
    private struct LateScheduler: Scheduler {
        struct Forgotten: ScheduledAction { func cancel() {} }

        let time = Locked(Instant.origin)
        var now: Instant { time.withLock { $0 } }

        func schedule(at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void) -> any ScheduledAction {
            Forgotten()
        }
    }

    // Proves P5.12.
    @Test func `The time to the next attempt counts down and is zero when the attempt is overdue`() throws {
        let scheduler = LateScheduler()
        let socket = MockWebSocket()
        let pusher = Pusher(
            key: "key",
            options: PusherClientOptions(reconnectPolicy: ReconnectPolicy(initialDelay: .seconds(100)), delivery: .immediate),
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

    // Proves P6.10, P6.11.
    @Test(arguments: [(403, true), (503, false)])
    func `A channel has failed after a 403 or an unsubscribe, but not while another try is due`(status: Int, hasFailed: Bool) {
        let rig = ClientRig(server: .manual)
        let room = rig.pusher.subscribe("room")
        #expect(!room.hasFailed, "it waits for a connection")
        rig.pusher.connect()
        rig.socket.accept()
        rig.socket.serverEstablishes()
        #expect(!room.hasFailed, "it is on its way")
        rig.socket.serverSends(#"{"event":"pusher:subscription_error","channel":"room","data":{"status":\#(status)}}"#)
        #expect(room.hasFailed == hasFailed)
        rig.socket.drop()
        #expect(!room.hasFailed, "the next connection tries it again")
        rig.pusher.unsubscribe("room")
        #expect(room.hasFailed)
    }
}

@Suite struct ConnectionAttemptTests {
    @Test func `Connection attempts are numbered in sequence and ordered by their numbers`() {
        let first = ConnectionAttempt(1)
        #expect(first.next == ConnectionAttempt(2) && first.description == "#1")
        #expect(first < first.next && !(first < first))
    }
}
