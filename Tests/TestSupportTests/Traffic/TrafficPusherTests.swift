import Foundation
import TestSupport
import Testing

/// A client's whole traffic, HTTP and WebSocket, recorded and validated.
struct TrafficPusherTests {
    private let rig = TrafficRig()

    private static let app = ServerApp(id: "42", key: "app-key", secret: "very-secret")

    /// The secrets in the traffic, which must not come out.
    private static let secrets = ["very-secret", "hunter2", "bearer-of-news"]

    /// Runs a client that signs its user in, joins a presence channel, sends an event and receives one from its backend. Returns
    /// the signatures of the requests.
    private func run(recordedBy recorder: TrafficRecorder) async throws -> [String] {
        let server = InMemoryServer(ServerMachine(apps: [Self.app]), wallClock: { TrafficRig.time })
        let session = MockSession(server: server, delivery: .immediate)
        session.stubAuth(secret: Self.app.secret, key: Self.app.key, userID: "ann")
        let environment = PusherEnvironment(
            scheduler: TestScheduler(), httpSession: recorder.recording(session),
            makeWebSocket: { recorder.recording(server.makeWebSocket()) }, wallClock: { TrafficRig.time }, randomSeed: { 1 },
            jsonEncoder: {
                // The keys are sorted, because a signed request carries a digest of its body.
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                return encoder
            })
        let options = PusherClientOptions(
            authMethod: .endpoint(authEndpoint: "https://backend.example/pusher/auth?session_token=bearer-of-news"),
            userAuthMethod: .endpoint("https://backend.example/pusher/user-auth"), delivery: .immediate)
        let pusher = Pusher(key: Self.app.key, options: options, environment: environment)
        let heard = RecordingDelegate(of: pusher)
        pusher.connect()
        pusher.signIn { _ in }
        let orders = pusher.subscribe("presence-orders")
        orders.trigger(eventName: "client-seen", data: ["by": "ann"])
        let api = PusherHTTPAPI(
            appID: Self.app.id, key: Self.app.key, secret: Self.app.secret, host: .host("api.example"), environment: environment)
        try await api.trigger(channels: ["presence-orders"], eventName: "placed", data: #"{"id":7}"#)
        server.publish(channel: "presence-orders", event: "login", data: #"{"user":"bob","password":"hunter2"}"#)
        #expect(heard.notifications.contains(.signedIn(userID: "ann")))
        pusher.disconnect()
        // The signatures as the client and its backend sent them. They depend on the secret.
        return session.requests.compactMap { $0.parameters["auth_signature"] }
    }

    @Test func `A client's traffic is recorded and validated without a secret in file or archive`() async throws {
        let signatures = try await run(recordedBy: rig.recorder)
        try rig.recorder.record(to: "orders.json")
        let file = try rig.text(of: "orders.json")
        #expect(signatures.count == 1)
        for secret in Self.secrets + signatures { #expect(!file.contains(secret)) }
        // Signatures are 64 hexadecimal digits.
        #expect(file.firstMatch(of: #/[0-9a-f]{64}/#) == nil)
        #expect(file.contains("app-key:<redacted>"))
        let archive = rig.archive
        for secret in Self.secrets + signatures { #expect(!archive.contains(secret)) }

        let events = try #require(try rig.json(of: "orders.json").arrayValue).map { entry in
            entry["event"]?.stringValue ?? entry["url"]?.stringValue ?? ""
        }
        for expected in [
            "https://backend.example/pusher/auth", "https://backend.example/pusher/user-auth", "pusher:connection_established",
            "pusher:signin", "pusher:subscribe", "pusher_internal:subscription_succeeded", "client-seen", "placed", "login",
            "https://api.example/apps/42/events",
        ] {
            #expect(events.contains(expected), "\(expected)")
        }

        for validator in [TrafficValidator.subset, .exact, .subset.ordered, .exact.ordered] {
            let again = TrafficRecorder(environment: ["TRAFFIC_DIR": rig.directory.path])
            _ = try await run(recordedBy: again)
            try again.validate(against: "orders.json", using: validator)
        }
    }
}
