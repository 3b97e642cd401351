import PusherChannels
import TestSupport

/// A client on a mock socket and a mock session in virtual time, with everything delivered at once: when a call returns, all
/// that it led to has happened.
struct ClientRig {
    let scheduler = TestScheduler()
    let socket: MockWebSocket
    let session = MockSession(delivery: .immediate)
    let pusher: Pusher
    let recorder: RecordingDelegate

    init(
        server: MockWebSocket.Server = .trusting, key: String = "key", auth: AuthMethod = .inline(secret: "secret"),
        _ change: (inout PusherClientOptions) -> Void = { _ in }
    ) {
        var options = PusherClientOptions(authMethod: auth, delivery: .immediate)
        change(&options)
        let socket = MockWebSocket(server: server)
        self.socket = socket
        pusher = Pusher(
            key: key, options: options,
            environment: PusherEnvironment(
                scheduler: scheduler, httpSession: session, makeWebSocket: { socket }, randomSeed: { 1 }))
        recorder = RecordingDelegate(of: pusher)
    }

    static func connected(
        server: MockWebSocket.Server = .trusting, auth: AuthMethod = .inline(secret: "secret"),
        _ change: (inout PusherClientOptions) -> Void = { _ in }
    ) -> ClientRig {
        let rig = ClientRig(server: server, auth: auth, change)
        rig.pusher.connect()
        return rig
    }
}
