import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// Numbers that applications give, however odd.
struct OptionsTests {
    @Test(
        arguments: [
            (nil, 86_400), (30, 30), (0, 0), (-1, 0), (.infinity, 86_400), (-.infinity, 0), (.nan, 86_400), (1e300, 86_400),
        ] as [(Double?, Double)])
    func anyNumberOfSecondsIsTaken(given: Double?, taken: Double) {
        let pusher = Pusher(key: "k")
        pusher.connection.maxReconnectGapInSeconds = given
        #expect(pusher.connection.maxReconnectGapInSeconds == taken)
    }

    @Test(arguments: [Double.infinity, .nan, -1, 1e300]) func anActivityTimeoutOfNoUseDoesNoHarm(seconds: Double) {
        let rig = ClientRig.connected { $0.activityTimeout = seconds }
        #expect(rig.pusher.connection.connectionState == .connected)
    }

    @Test func everyStepHasATimeOutOfItsOwn() {
        let rig = ClientRig(
            server: .manual,
            auth: .customHandler { _, _ in
                for await _ in AsyncStream<Void>.makeStream().stream {}
                return PusherAuth(auth: "")
            }
        ) {
            $0.timeouts = ConnectionTimeouts(
                open: .seconds(1), establish: .seconds(2), pong: .seconds(3), close: .seconds(4), authorisation: .seconds(5),
                subscription: .seconds(6))
            $0.reconnectPolicy = ReconnectPolicy(initialDelay: .zero, maximumDelay: .zero)
        }
        // Virtual time stands at zero.
        func deadline() -> Duration? { rig.pusher.connection.driver.read(\.nextDeadline) }
        rig.pusher.connect()
        #expect(deadline() == .seconds(1))
        rig.socket.accept()
        #expect(deadline() == .seconds(2))
        rig.socket.serverEstablishes()
        rig.pusher.subscribe("private-a")
        #expect(deadline() == .seconds(5))
        rig.pusher.unsubscribe("private-a")
        rig.pusher.subscribe("news")
        #expect(deadline() == .seconds(6))
        rig.pusher.unsubscribe("news")
        rig.pusher.connection.networkChanged()
        #expect(deadline() == .seconds(3))
    }

    @Test func theAttemptsCanBeLimited() {
        let rig = ClientRig.connected()
        rig.pusher.connection.reconnectAttemptsMax = 0
        #expect(rig.pusher.connection.reconnectPolicy.maximumAttempts == 0)
        rig.socket.drop()
        #expect(rig.recorder.errors.last?.kind == .attemptsExhausted)
        #expect(rig.pusher.connection.connectionState == .disconnected)
    }
}
