import Foundation
import PusherChannels
import TestSupport
import Testing

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

    @Test func theAttemptsCanBeLimited() {
        let rig = ClientRig.connected()
        rig.pusher.connection.reconnectAttemptsMax = 0
        #expect(rig.pusher.connection.reconnectPolicy.maximumAttempts == 0)
        rig.socket.drop()
        #expect(rig.recorder.errors.last?.kind == .attemptsExhausted)
        #expect(rig.pusher.connection.connectionState == .disconnected)
    }
}
