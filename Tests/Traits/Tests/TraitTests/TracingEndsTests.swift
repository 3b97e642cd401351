import InMemoryTracing
import PusherChannels
import TestSupport
import Testing
import Tracing

/// No span outlives the operation that it describes.
@Suite struct TracingEndsTests {
    /// A way in which a client's requests end without success.
    enum End: CaseIterable {
        case letGo, shutdown, disconnect, unsubscribe, lost
    }

    /// Returns a client that subscribes, and whose authorization endpoint never replies.
    private func subscribing(_ tracer: InMemoryTracer, _ gate: Gate) -> TracedClient {
        let client = TracedClient { options, environment in
            options.authMethod = .endpoint(authEndpoint: "https://example.com/auth")
            environment.tracer = tracer
        }
        client.session.stub("POST https://example.com/auth", StubResponse.json(["auth": "key:s"]).held(by: gate))
        client.pusher.connect()
        client.pusher.subscribe("private-a")
        return client
    }

    @Test(arguments: End.allCases) func `The spans of a pending subscription end as errors when it is given up or lost`(
        _ end: End
    ) async {
        let (tracer, gate) = (InMemoryTracer(), Gate())
        do {
            let client = subscribing(tracer, gate)
            #expect(tracer.activeSpans.count == 3)
            client.scheduler.advance(by: .seconds(1))
            switch end {
            case .letGo: break
            case .shutdown: await client.pusher.shutdown()
            case .disconnect: client.pusher.disconnect()
            case .unsubscribe: client.pusher.unsubscribe("private-a")
            case .lost: client.socket.drop()
            }
            if end != .letGo { #expect(tracer.activeSpans.isEmpty) }
        }
        gate.open()
        #expect(tracer.activeSpans.isEmpty)
        let spans = tracer.finishedSpans.filter { $0.operationName != "pusher.connect" }
        #expect(spans.allSatisfy { $0.status?.code == .error })
        let reasons = Dictionary(uniqueKeysWithValues: spans.map { ($0.operationName, $0["error.type"]) })
        let reason = end == .lost ? "connection_lost" : "cancelled"
        #expect(reasons == ["pusher.subscribe": reason, "pusher.authorize": "cancelled", "POST": "URLError -999"])
        #expect(spans.first { $0.operationName == "pusher.subscribe" }?.seconds == 0...1)
    }

    /// The connection is being made, is to be retried, or hasn't even been requested.
    @Test(arguments: [0, 1, 2]) func `The spans of a client that never connects end when the client is released`(steps: Int) {
        let tracer = InMemoryTracer()
        do {
            let client = TracedClient(server: .manual) { _, environment in environment.tracer = tracer }
            client.pusher.subscribe("news")
            if steps > 0 { client.pusher.connect() }
            if steps > 1 { client.socket.drop() }
        }
        #expect(tracer.activeSpans.isEmpty)
        #expect(tracer.finishedSpans.filter { $0.operationName == "pusher.subscribe" }.count == 1)
    }

    /// A channel that waits for its connection stays requested, however many attempts that takes.
    @Test func `A failed connection attempt doesn't end the spans of pending subscriptions`() {
        let client = TracedClient(server: .manual)
        let caller = client.within { client.pusher.subscribe("news") }
        client.pusher.connect()
        client.socket.refuse(.connectionRefused)
        client.scheduler.advance(by: .seconds(3))
        #expect(client.spans("pusher.subscribe").isEmpty)
        client.socket.accept()
        client.socket.serverEstablishes()
        client.socket.serverSendsEvent("pusher_internal:subscription_succeeded", channel: "news", data: "{}")
        #expect(client.spans("pusher.subscribe").map(\.parentSpanID) == [caller])
    }

    @Test func `Each attempt at a subscription is a span of its own`() {
        let client = TracedClient { options, _ in options.authMethod = .endpoint(authEndpoint: "https://example.com/auth") }
        client.session.stub("POST https://example.com/auth", .http(503), .json(["auth": "key:signature"]))
        client.pusher.connect()
        client.pusher.subscribe("private-a")
        client.scheduler.advance(by: .seconds(60))
        #expect(client.spans("pusher.subscribe").map { $0["pusher.code"] } == ["503", nil])
        #expect(client.spans("POST").map { $0["http.response.status_code"] } == ["503", "200"])
    }
}
