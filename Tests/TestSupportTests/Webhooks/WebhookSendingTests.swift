import Foundation
import TestSupport
import Testing

/// The ways in which webhooks reach a backend: through a session in memory, and through sockets from a local server.
struct WebhookSendingTests {
    private static let url = "http://backend.example/webhooks"

    /// Returns the requests with the webhook for a subscription. The backend replies with these responses in order, and repeats
    /// the last one.
    private func deliver(
        _ first: StubResponse, _ others: StubResponse..., within duration: Duration
    ) throws -> [RecordedRequest] {
        let harness = TestHarness(allowing: [.pendingTimer, .openSocket])
        let replies = Locked([first] + others)
        harness.session.stub(RequestMatcher("POST \(Self.url)")) { _ in
            replies.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }
        harness.server.sendWebhooks(to: Self.url, kinds: [.channelOccupied])
        let pusher = harness.makePusher()
        pusher.subscribe("news")
        pusher.connect()
        harness.scheduler.advance(by: duration)
        pusher.disconnect()
        try harness.verify()
        return harness.session.requests.filter { $0.url == Self.url }
    }

    // Proves P18.6.
    @Test func `A failed webhook is sent again unchanged until it is accepted`() throws {
        let requests = try deliver(.http(500), .fault(.reset), .http(302), .ok, within: .seconds(400))
        #expect(requests.count == 4)
        #expect(Set(requests.map(\.text)).count == 1)
        #expect(Set(requests.map { $0.header("X-Pusher-Signature") }).count == 1)
    }

    /// The webhook is sent at 0, 1, 3, 7, 15, 31, 63, 127 and 255 seconds.
    @Test(arguments: [(0.25, 1), (1.24, 1), (1.25, 2), (3.25, 3), (63.25, 7), (255.24, 8), (255.25, 9), (3_600, 9)])
    func `A failing webhook is retried with doubling pauses and given up after five minutes`(seconds: Double, attempts: Int)
        throws
    {
        #expect(try deliver(.http(503), within: .seconds(seconds)).count == attempts)
    }

    @Test func `Webhooks of a server that sends none are reported`() {
        let server = InMemoryServer(ServerMachine(profile: .reverb))
        server.sendWebhooks(to: Self.url)
        #expect(server.findings.map(\.text) == ["webhooks to \(Self.url): a server of this profile sends none"])
    }

    @Test func `A webhook is reported if the server has no session to send it`() {
        let scheduler = TestScheduler()
        let server = InMemoryServer(scheduler: scheduler)
        server.sendWebhooks(to: Self.url)
        let socket = server.makeWebSocket()
        let pusher = Pusher(
            key: "local-key", options: PusherClientOptions(delivery: .immediate),
            environment: PusherEnvironment(scheduler: scheduler, makeWebSocket: { socket }))
        pusher.subscribe("news")
        pusher.connect()
        scheduler.advance(by: .seconds(1))
        let found = server.findings.filter { $0.kind == .error }.map(\.text)
        #expect(found == ["webhook with channel_occupied to \(Self.url): there is no session to send it by"])
        pusher.disconnect()
    }

    @Test func `A local server sends its webhooks signed over sockets`() async throws {
        let backend = try await LocalServer.start()
        backend.router.on("/webhooks") { _ in .ok }
        let (events, continuation) = AsyncStream<LocalServer.Event>.makeStream()
        let server = try await LocalServer.start(
            settings: LocalServer.Settings(closeTimeout: .milliseconds(1)) { continuation.yield($0) })
        server.sendWebhooks(to: "\(backend.url)/webhooks", kinds: [.channelOccupied])
        let socket = try await RawWebSocket(port: server.port)
        try await socket.send(ServerRig.subscription(to: "news"))
        let request = try await backend.nextRequest("POST /webhooks")
        #expect(request.json?["events"] == [["name": "channel_occupied", "channel": "news"]])
        #expect(request.header("X-Pusher-Key") == "local-key")
        #expect(request.header("X-Pusher-Signature") == hmacSHA256(request.text, key: "local-secret"))
        _ = try await next("the webhook's answer", in: events) { event in
            if case .webhook(_, status: 200, failure: nil) = event { true } else { false }
        }
        await server.stop()
        await backend.stop()
    }
}
