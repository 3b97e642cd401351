import Foundation
import InMemoryTracing
import PusherChannels
import TestSupport
import Testing
import Tracing

/// The spans of a client, in an in-memory tracer and in virtual time.
@Suite struct TracingTests {
    @Test func `A connection attempt is a span until the connection is established`() throws {
        let client = TracedClient(server: .manual)
        let caller = client.within { client.pusher.connect() }
        client.scheduler.advance(by: .seconds(2))
        client.socket.accept()
        #expect(client.spans("pusher.connect").isEmpty)
        client.socket.serverEstablishes()
        let span = try #require(client.spans("pusher.connect").first)
        #expect(span.parentSpanID == caller && span.kind == .client && span.status == nil)
        #expect(span.seconds == 0...2)
        let values = span.values("server.address", "server.port", "pusher.attempt", "pusher.socket_id")
        #expect(values == ["example.org", "443", "1", "46123.486095"])
        #expect(client.tracer.activeSpans.isEmpty)
    }

    @Test func `A password in the host option isn't shown in a span`() throws {
        let client = TracedClient(server: .manual) { options, _ in options.host = .host("ann:pw@example.org") }
        client.pusher.connect()
        client.socket.refuse(.unsupported, "no host")
        #expect(client.spans("pusher.connect").map { $0["server.address"] } == ["example.org"])
    }

    /// An attempt that the client makes by itself has no parent span.
    @Test func `The span of a failed connection attempt ends with its error`() throws {
        let client = TracedClient(server: .manual) { options, _ in options.reconnectPolicy.maximumRetries = 2 }
        let caller = client.within { client.pusher.connect() }
        client.socket.refuse(.connectionRefused, "nobody there")
        client.scheduler.advance(by: .seconds(3))
        client.socket.accept()
        client.socket.serverCloses(code: 4100, reason: "over capacity")
        client.scheduler.advance(by: .seconds(60))
        client.scheduler.advance(by: .seconds(600))
        let spans = client.spans("pusher.connect")
        #expect(
            spans.map { $0.values("pusher.attempt", "error.type", "pusher.code") }
                == [["1", "connection_refused", nil], ["2", "server", "4100"], ["3", "timed_out", nil]])
        #expect(spans.map(\.parentSpanID) == [caller, nil, nil])
        #expect(spans.allSatisfy { $0.status?.code == .error })
        let error = try #require(spans.first?.errors.first?.error as? PusherError)
        #expect(error.kind == .transport(.connectionRefused))
        #expect(client.tracer.activeSpans.isEmpty)
    }

    /// If one attempt follows another at once, without a change of state, both are reported.
    @Test func `A connection attempt that is followed at once by another has a span of its own`() {
        let client = TracedClient(server: .manual)
        client.pusher.connect()
        client.socket.accept()
        client.socket.serverCloses(code: 4200)
        client.socket.accept()
        client.socket.serverEstablishes()
        let values = client.spans("pusher.connect").map { $0.values("pusher.code", "error.type") }
        #expect(values == [["4200", "server"], [nil, nil]])
    }

    @Test func `A subscription is a span from its request on, with its authorization as a child span`() throws {
        let client = TracedClient { options, _ in
            options.authMethod = .endpoint(authEndpoint: "https://ann:pw@example.com/auth?token=t0ken")
        }
        client.session.stub(.path("/auth"), .json(["auth": "key:s1gnature"]))
        client.session.delivery = .scheduled(client.scheduler, after: .seconds(3))
        let caller = client.within { client.pusher.subscribe("private-a") }
        client.scheduler.advance(by: .seconds(5))
        client.pusher.connect()
        client.scheduler.advance(by: .seconds(10))
        let subscribe = try #require(client.spans("pusher.subscribe").first)
        let authorize = try #require(client.spans("pusher.authorize").first)
        let post = try #require(client.spans("POST").first)
        let spans = [subscribe, authorize, post]
        #expect(spans.map(\.parentSpanID) == [caller, subscribe.spanID, authorize.spanID])
        #expect(spans.map(\.seconds) == [0...8, 5...8, 5...8])
        #expect([subscribe, authorize].allSatisfy { $0["pusher.channel"] == "private-a" && $0.status == nil })
        let values = post.values("http.request.method", "http.response.status_code", "server.address", "server.port")
        #expect(values == ["POST", "200", "example.com", "443"])
        #expect(post["url.full"]?.hasPrefix("https://") == true)
        #expect(post["url.full"]?.contains("example.com/auth") == true)
        #expect(client.session.requests.first?.header("in-memory-span-id") == post.spanID, "the server's parent")
        for secret in ["t0ken", "pw", "s1gnature", "s3cret"] {
            for span in client.spans() { #expect(!"\(span)".contains(secret), "\(span.operationName)") }
        }
    }

    @Test func `The spans of a refused subscription end with its error`() throws {
        let client = TracedClient { options, _ in options.authMethod = .endpoint(authEndpoint: "https://example.com/auth") }
        client.session.stub("POST https://example.com/auth", .http(403))
        client.pusher.connect()
        client.pusher.subscribe("private-a")
        for name in ["pusher.subscribe", "pusher.authorize"] {
            let span = try #require(client.spans(name).first)
            #expect(span.values("error.type", "pusher.code") == ["authorization", "403"])
            #expect((span.errors.first?.error as? PusherError)?.kind == .authorization)
        }
        let post = try #require(client.spans("POST").first)
        #expect(post["error.type"] == "403" && post.status?.code == .error)
    }

    @Test func `Subscriptions that a new connection repeats are spans without a parent`() throws {
        let client = TracedClient()
        _ = client.within {
            client.pusher.connect()
            for channel in ["news", "private-a"] { client.pusher.subscribe(channel) }
        }
        client.socket.drop()
        client.scheduler.advance(by: .seconds(60))
        let spans = client.spans("pusher.subscribe")
        #expect(spans.map { $0["pusher.channel"] } == ["news", "private-a", "news", "private-a"])
        #expect(spans.map { $0.parentSpanID == nil } == [false, false, true, true])
        #expect(Set(spans.suffix(2).map(\.traceID)).count == 2)
        #expect(client.spans("pusher.authorize").map(\.parentSpanID) == [spans[1].spanID, spans[3].spanID])
        #expect(client.tracer.activeSpans.isEmpty)
    }

    @Test func `The authorization of a sign-in is a span`() throws {
        let client = TracedClient { options, _ in options.userAuthMethod = .inline(secret: "s3cret", userData: #"{"id":"ann"}"#) }
        client.pusher.connect()
        client.pusher.signIn { _ in }
        let span = try #require(client.spans("pusher.authorize").first)
        #expect(span["pusher.channel"] == nil && span.parentSpanID == nil)
        #expect(client.tracer.activeSpans.isEmpty)
    }

    /// Careless code replies twice or late, but a span ends only once.
    @Test func `The span of an authorization ends once, even if the authorizer replies twice`() throws {
        final class Twice: Authorizer {
            func fetchAuthValue(
                socketID: String, channelName: String, completionHandler: @escaping @Sendable (PusherAuth?) -> Void
            ) {
                completionHandler(PusherAuth(auth: "key:signature"))
                completionHandler(nil)
            }
        }
        let client = TracedClient { options, _ in options.authMethod = .authorizer(authorizer: Twice()) }
        client.pusher.subscribe("private-a")
        client.pusher.connect()
        #expect(client.spans("pusher.authorize").map { $0.status?.code } == [nil])
    }

    /// A handler's work is part of the authorization.
    @Test func `An authorization handler runs in the context of the authorization's span`() async throws {
        let (tasks, started) = AsyncStream<Task<Void, Never>>.makeStream()
        let tracer = InMemoryTracer()
        let client = TracedClient { options, environment in
            environment.tracer = tracer
            environment.spawn = { body in
                let task = Task { await body() }
                started.yield(task)
                return task
            }
            options.authMethod = .customHandler { _, _ in tracer.withSpan("look up") { _ in PusherAuth(auth: "key:signature") } }
        }
        client.pusher.connect()
        client.pusher.subscribe("private-a")
        for await task in tasks {
            await task.value
            break
        }
        let inner = try #require(tracer.finishedSpans.first { $0.operationName == "look up" })
        let outer = try #require(tracer.finishedSpans.first { $0.operationName == "pusher.authorize" })
        #expect(inner.parentSpanID == outer.spanID)
    }

    /// It may begin for another reason than the loop's next look.
    @Test func `A load's span isn't a child of the loop's`() async throws {
        let client = TracedClient { _, environment in environment.scheduler = LiveScheduler() }
        client.pusher.connect()
        try await client.tracer.withSpan("loop") { _ in
            for try await step in client.pusher.follow("news", loading: { 1 }) { if case .state = step { break } }
        }
        let load = try #require(client.spans("pusher.load").first)
        #expect(load.parentSpanID == nil)
        #expect(client.spans("loop").count == 1)
    }

    @Test func `A client without a tracer of its own uses the system's`() {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)  // Possible once in a process; every other client has its own.
        let client = TracedClient { _, environment in environment.tracer = nil }
        client.pusher.connect()
        #expect(tracer.finishedSpans.contains { $0.operationName == "pusher.connect" })
    }
}
