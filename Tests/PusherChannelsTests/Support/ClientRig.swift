import PusherChannels
import TestSupport

/// A client with a mock socket and a mock session in virtual time. Everything is delivered immediately, so when a call
/// returns, all of its effects have happened.
struct ClientRig {
    typealias Spawn = @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>

    let scheduler = TestScheduler()
    let socket: MockWebSocket
    let session = MockSession(delivery: .immediate)
    let pusher: Pusher
    let recorder: RecordingDelegate

    init(
        server: MockWebSocket.Server = .trusting, key: String = "key", auth: AuthMethod = .inline(secret: "secret"),
        _ change: (inout PusherClientOptions) -> Void = { _ in },
        spawn: @escaping Spawn = PusherEnvironment.live.spawn
    ) {
        var options = PusherClientOptions(authMethod: auth, delivery: .immediate)
        change(&options)
        let socket = MockWebSocket(server: server)
        self.socket = socket
        let environment = PusherEnvironment(
            scheduler: scheduler, httpSession: session, makeWebSocket: { socket }, randomSeed: { 1 }, spawn: spawn)
        pusher = Pusher(key: key, options: options, environment: environment)
        recorder = RecordingDelegate(of: pusher)
    }

    static func connected(
        server: MockWebSocket.Server = .trusting, auth: AuthMethod = .inline(secret: "secret"),
        _ change: (inout PusherClientOptions) -> Void = { _ in },
        spawn: @escaping Spawn = PusherEnvironment.live.spawn
    ) -> ClientRig {
        let rig = ClientRig(server: server, auth: auth, change, spawn: spawn)
        rig.pusher.connect()
        return rig
    }
}

extension PusherStream<PusherEvent> {
    /// Returns the data of the given number of events, or of fewer if the stream ends first.
    func data(of count: Int) async throws -> [String?] {
        var data: [String?] = []
        for try await event in self {
            data.append(event.data)
            if data.count == count { break }
        }
        return data
    }
}

extension ClientRig {
    /// Publishes events `n` with these numbers as their data.
    func publish(_ numbers: Range<Int>, on channel: String = "news") {
        for number in numbers { socket.publish(channel: channel, event: "n", data: "\(number)") }
    }
}
