import PusherChannels
import TestSupport
import Testing

/// A client of a server in memory, in virtual time: when a call returns, all of its effects have happened.
struct ServedClient {
    let pusher: Pusher
    let recorder: RecordingDelegate

    init(
        of server: InMemoryServer, at scheduler: TestScheduler, as userID: String, secret: String? = nil,
        limits: ProtocolLimits = .hosted
    ) {
        let session = MockSession(server: server, delivery: .immediate)
        let app = ServerApp.local
        session.stubAuth(
            secret: secret ?? app.secret, key: app.key, encryptionMasterKey: app.encryptionMasterKey, userID: userID)
        pusher = Pusher(
            key: app.key,
            options: PusherClientOptions(
                authMethod: .endpoint(authEndpoint: "http://server/pusher/auth"),
                userAuthMethod: .endpoint("http://server/pusher/user-auth"), limits: limits, delivery: .immediate),
            environment: PusherEnvironment(
                scheduler: scheduler, httpSession: session, makeWebSocket: { server.makeWebSocket() }, randomSeed: { 1 }))
        recorder = RecordingDelegate(of: pusher)
        pusher.connect()
    }

    func events(_ name: String) -> [String?] {
        recorder.notifications.compactMap { if case .event(name, _, let data, _) = $0 { data } else { nil } }
    }

    /// Returns the error of the first failed subscription to the channel; nil if there is none.
    func outcome(of channel: String) -> PusherError? {
        recorder.notifications.lazy.compactMap { notification -> PusherError? in
            if case .failedToSubscribe(channel, let error, _, _) = notification { error } else { nil }
        }.first
    }
}

/// One of the servers that can be imitated.
struct ServerCase: CustomTestStringConvertible, Sendable {
    static let all = ServerProfile.byName.map(ServerCase.init)

    let name: String
    let profile: ServerProfile
    var testDescription: String { name }

    init(_ pair: (key: String, value: ServerProfile)) {
        (name, profile) = pair
    }
}
