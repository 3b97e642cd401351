import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct LeftBehindTests {
    private func underWay(_ rig: ClientRig) -> Int { rig.pusher.connection.core.readState(\.outbox.authorizations.count) }

    @Test func `An authorization that is answered at once isn't kept`() {
        let rig = ClientRig.connected { $0.userAuthMethod = .inline(secret: "s", userData: #"{"id":"ann"}"#) }
        #expect(rig.pusher.subscribe("private-room").subscribed)
        rig.pusher.signIn { _ in }
        #expect(underWay(rig) == 0)
    }

    @Test func `An authorization is kept only until its reply or the channel's unsubscribe`() {
        let held = Locked<[@Sendable (PusherAuth?) -> Void]>([])
        let rig = ClientRig.connected(auth: .asking { reply in held.withLock { $0.append(reply) } })
        for channel in ["private-a", "private-b", "private-c"] { rig.pusher.subscribe(channel) }
        #expect(underWay(rig) == 3)
        let replies = held.withLock { $0 }
        replies[0](PusherAuth(auth: "k:s"))
        replies[0](nil)
        replies[1](nil)
        #expect(underWay(rig) == 1)
        rig.pusher.unsubscribe("private-c")
        #expect(underWay(rig) == 0)
        replies[2](PusherAuth(auth: "k:s"))
        #expect(underWay(rig) == 0)
    }

    @Test func `An authorization that times out isn't kept`() {
        let rig = ClientRig.connected(auth: .asking { _ in })
        rig.pusher.subscribe("private-room")
        rig.scheduler.advance(by: .seconds(15))
        #expect(underWay(rig) == 0)
    }

    /// A client waits for a server that doesn't answer its close, but not if the client itself is gone.
    @Test func `A released client's timer is canceled even if the socket never reports its close`() {
        let (scheduler, socket) = (TestScheduler(), SlowToClose(MockWebSocket(server: .manual)))
        do {
            let pusher = Pusher(
                key: "key", options: PusherClientOptions(delivery: .immediate),
                environment: PusherEnvironment(scheduler: scheduler, makeWebSocket: { socket }))
            pusher.connect()
            #expect(scheduler.pendingTimers.count == 1)
        }
        #expect(scheduler.pendingTimers.isEmpty)
    }
}
