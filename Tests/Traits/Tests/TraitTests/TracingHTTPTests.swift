import Foundation
import InMemoryTracing
import PusherChannels
import TestSupport
import Testing
import Tracing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The spans of the HTTP API's requests, and the trace contexts that events carry.
@Suite struct TracingHTTPTests {
    private let tracer = InMemoryTracer()
    private let session = MockSession(delivery: .immediate)

    private func api(_ policy: RetryPolicy = .none, names: TelemetryNames = .pusher) -> PusherHTTPAPI {
        var environment = PusherEnvironment(httpSession: session)
        environment.telemetryNames = names
        environment.tracer = tracer
        return PusherHTTPAPI(
            appID: "1", key: "key", secret: "s3cret", host: .host("api.example.com"),
            options: PusherHTTPAPIOptions(retryPolicy: policy), environment: environment)
    }

    private var requests: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.kind == .client } }

    @Test func `A publish is a child span of its caller, and its request a child of the publish`() async throws {
        session.stub(.path("/apps/1/events"), .json([String: String]()))
        let caller = try await tracer.withSpan("request") { span in
            try await api().trigger(channels: ["private-a"], eventName: "n", data: "1")
            return span.spanID
        }
        let span = try #require(requests.first)
        #expect(span.operationName == "POST")
        let publish = try #require(tracer.finishedSpans.first { $0.kind == .producer })
        #expect((publish.operationName, publish["pusher.channel"]) == ("pusher.publish", "private-a"))
        #expect([publish, span].map(\.parentSpanID) == [caller, publish.spanID])
        #expect(span["url.full"]?.hasPrefix("https://api.example.com/apps/1/events") == true)
        #expect(span["http.response.status_code"] == "200" && span.status == nil)
        let request = try #require(session.requests.first)
        #expect(request.header(InMemoryTracer.spanIDKey) == span.spanID)
        #expect(request.header(InMemoryTracer.traceIDKey) == span.traceID)
        #expect(!"\(span)".contains("auth_signature") && !"\(span)".contains("s3cret"))
    }

    @Test func `A publish's span can have OpenTelemetry's names`() async throws {
        session.stub(.path("/apps/1/batch_events"), .http(503))
        let events = [1, 2].map { PusherBatchEvent(channel: "news", eventName: "n", data: $0) }
        await #expect(throws: PusherError.self) { try await api(names: .openTelemetry).triggerBatch(events) }
        let span = try #require(tracer.finishedSpans.first { $0.kind == .producer })
        #expect(span.operationName == "publish" && span.status?.code == .error)
        let names = ["system", "operation.name", "operation.type", "batch.message_count", "destination.name"]
        #expect(names.map { span["messaging.\($0)"] } == ["pusher", "publish", "send", "2", nil])
        #expect(span["error.type"] == "503")
    }

    @Test func `Each request of a retried call is a span of its own`() async throws {
        session.stub(.path("/apps/1/channels"), .http(503), .failure(.timedOut), .json(["channels": [String: String]()]))
        _ = try await api(RetryPolicy(maximumAttempts: 3, initialDelay: .zero)).get("/channels")
        #expect(
            requests.map { $0.values("error.type", "http.request.resend_count") }
                == [["503", nil], ["URLError -1001", "1"], [nil, "2"]])
        #expect(requests.map { $0.status?.code } == [.error, .error, nil])
    }

    @Test func `A cancelled call ends its span`() async throws {
        let gate = Gate()
        session.stub(.path("/apps/1/channels"), StubResponse.ok.held(by: gate))
        let api = api()
        let task = Task { try await api.get("/channels") }
        try await session.nextRequest()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(tracer.activeSpans.isEmpty)
        #expect(requests.first?["error.type"] == "URLError -999")
        gate.open()
    }

    @Test func `A trace header that the application has set isn't replaced`() {
        struct Builder: AuthRequestBuilderProtocol {
            func requestFor(socketID: String, channelName: String) -> URLRequest? {
                var request = URLRequest(url: URL(string: "https://example.com/auth")!)
                request.httpMethod = "POST"
                request.setValue("mine", forHTTPHeaderField: InMemoryTracer.traceIDKey)
                return request
            }
        }
        let client = TracedClient { options, _ in options.authMethod = .authRequestBuilder(authRequestBuilder: Builder()) }
        client.session.stub("POST https://example.com/auth", .json(["auth": "key:signature"]))
        client.pusher.connect()
        client.pusher.subscribe("private-a")
        #expect(client.session.requests.first?.header(InMemoryTracer.traceIDKey) == "mine")
        #expect(client.session.requests.first?.header(InMemoryTracer.spanIDKey) != nil)
    }

    // MARK: Events

    struct Order: Codable {
        let number: Int
        var context: PropagatedContext?
    }

    @Test func `An event's handler can link its span to the publisher's`() async throws {
        session.stub(.path("/apps/1/events"), .json([String: String]()))
        let publisher = try await tracer.withSpan("place") { span in
            try await api().trigger(
                channels: ["orders"], eventName: "placed", data: Order(number: 7, context: PropagatedContext(instrument: tracer)))
            return span.spanID
        }
        let sent = try #require(try session.requests.first?.decode([String: JSON].self)["data"]?.text)
        let client = TracedClient { _, environment in environment.tracer = tracer }
        client.pusher.connect()
        client.pusher.subscribe("orders").bind(eventName: "placed") { event in
            guard let order = try? event.decode(Order.self) else { return }
            tracer.withSpan("deliver") { span in
                if let cause = order.context?.serviceContext(instrument: tracer) {
                    span.addLink(SpanLink(context: cause, attributes: [:]))
                }
            }
        }
        client.socket.publish(channel: "orders", event: "placed", data: sent)
        let span = try #require(tracer.finishedSpans.first { $0.operationName == "deliver" })
        #expect(span.links.map { $0.context.inMemorySpanContext?.spanID } == [publisher])
    }

    private enum JSON: Decodable {
        case text(String), other

        init(from decoder: any Decoder) throws {
            let text = try? decoder.singleValueContainer().decode(String.self)
            self = text.map { .text($0) } ?? .other
        }

        var text: String? { if case .text(let text) = self { text } else { nil } }
    }

    /// Anyone who may send an event may send an invalid context. The event is delivered anyway.
    @Test(arguments: ["null", "7", "[]", #"{"traceparent":7}"#, #"{"a":{}}"#, "{}"])
    func `An event with an invalid trace context is delivered without a context`(text: String) async throws {
        let data = Data(#"{"number":1,"context":\#(text)}"#.utf8)
        let client = TracedClient()
        var orders = client.pusher.subscribe("orders").events(named: "placed", as: Order.self).makeAsyncIterator()
        client.pusher.connect()
        client.socket.publish(channel: "orders", event: "placed", data: String(decoding: data, as: UTF8.self))
        for order in [try JSONDecoder().decode(Order.self, from: data), try #require(await orders.next()).get()] {
            #expect(order.number == 1)
            #expect(order.context?.serviceContext(instrument: tracer) == nil)
        }
    }
}
