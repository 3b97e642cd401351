import Foundation
import PusherChannels
import TestSupport
import Testing

/// The doc comments' snippets, word for word; `ci/checks/snippets` compares them.
@Suite(.timeLimit(.lost)) struct DocCommentTests {
    /// The snippet of ``Pusher``. Only compiled, because it would connect to a server.
    func aFirstClient() {
        let pusher = Pusher(key: "app-key", options: PusherClientOptions(host: .cluster("eu")))
        pusher.connect()
        let news = pusher.subscribe("news")
        news.bind(eventName: "headline") { event in print(event.data ?? "") }
    }

    /// The snippet of ``PusherPool``. Only compiled, like the next one.
    func aPool(of markets: [String]) async throws {
        func handle(_ event: PusherEvent, of channel: String) {}
        let pool = PusherPool(key: "app-key", channelsPerConnection: 100, options: PusherClientOptions(host: .cluster("eu")))
        let updates = pool.updates  // first: what comes earlier is not in it
        pool.subscribe(markets.map { "prices-\($0)" })
        async let connections: Void = pool.run()
        for try await change in updates {
            if case .event(let event) = change.update { handle(event, of: change.channelName) }
        }
        try await connections
    }

    /// The snippet of ``Pusher/follow(_:auth:buffering:timeout:maximumAge:covers:loading:)``.
    func followed(_ pusher: Pusher) async throws {
        struct API { func orders() async throws -> [Int] { [] } }
        struct Store {
            func replace(_ all: [Int]) {}
            func apply(_ event: PusherEvent) {}
        }
        func log(_ error: any Error) {}
        let (api, store) = (API(), Store())
        let orders = pusher.follow("private-orders") { try await api.orders() }
        for try await step in orders {
            switch step {
            case .state(let all, _): store.replace(all)
            case .event(let event): store.apply(event)
            case .failed(let error): log(error)
            }
        }
    }

    struct Order: Codable, Sendable { let id: Int }

    /// The snippet of ``ChannelEvents``.
    enum OrderEvent: ChannelEvents {
        case placed(Order)
        case moved(id: Int, to: String)
        case closed
    }

    /// The snippet of ``PusherAuthHandler``.
    @Test func `A PusherAuthHandler's route signs what its decision allows and answers 403 to the rest`() async {
        struct User: Sendable {
            let id = "ann"
            func mayJoin(_ channel: String) -> Bool { channel == "private-orders" }
        }
        let handler = PusherAuthHandler(
            authenticator: PusherAuthenticator(key: "key", secret: "secret"), verifier: PusherWebhookVerifier(secrets: [:]))
        func status(_ body: String) async -> Int {
            let (user, body) = (User(), Array(body.utf8))
            let reply = await handler.respond(to: body) { request in
                guard let channel = request.channelName else { return .user(id: user.id) }
                guard user.mayJoin(channel) else { return .refused }
                return channel.hasPrefix("presence-") ? .user(id: user.id) : .allowed
            }
            return reply.status
        }
        #expect(await status("socket_id=1.2&channel_name=private-orders") == 200)
        #expect(await status("socket_id=1.2&channel_name=private-other") == 403)
        #expect(await status("socket_id=1.2") == 200)
    }

    /// The snippet of ``Shard/init(environment:)``.
    func aShard() throws -> Shard {
        let shard = try Shard(environment: ProcessInfo.processInfo.environment)
        return shard
    }

    /// The snippet of ``AuthEndpoint``.
    @Test func `After a 401 the client asks its endpoint again with a fresh token`() async throws {
        struct Tokens {
            func token(fresh: Bool) async throws -> String { fresh ? "fresh" : "stale" }
        }
        let tokens = Tokens()
        var endpoint = AuthEndpoint("https://example.com/broadcasting/auth")
        endpoint.headers = { context in ["Authorization": "Bearer \(try await tokens.token(fresh: context.isRetry))"] }
        let rig = ClientRig(auth: .customEndpoint(endpoint))
        rig.session.stub("POST https://example.com/broadcasting/auth", .http(401), .json(["auth": "key:signature"]))
        rig.pusher.connect()
        rig.pusher.subscribe("private-room")
        try await rig.recorder.next { $0 == .subscribed(channel: "private-room") }
        #expect(rig.session.requests.map { $0.header("Authorization") } == ["Bearer stale", "Bearer fresh"])
    }

    private struct Backend {
        let replies = Locked([(503, ""), (200, #"{"auth":"key:signature"}"#)])

        func post(_ path: String, _ form: [String: String]) async throws -> (Int, Data) {
            let (status, body) = replies.withLock { $0.removeFirst() }
            return (status, Data(body.utf8))
        }
    }

    /// The snippet of ``AuthMethod`` for a custom handler.
    @Test func `A custom authorization handler that fails with code 503 is asked again`() async throws {
        let backend = Backend()
        let method = AuthMethod.customHandler { socketID, channel in
            let (status, body) = try await backend.post("/pusher/auth", ["socket_id": socketID, "channel_name": channel])
            guard status == 200 else {
                throw PusherError(.authorization, code: status, message: "no authorization for \(channel)")
            }
            return try JSONDecoder().decode(PusherAuth.self, from: body)
        }
        let rig = ClientRig.connected(auth: method)
        rig.pusher.subscribe("private-room")
        let failure = try await rig.recorder.next { $0.failure != nil }.failure
        #expect(failure?.description == "the authorization handler failed: no authorization for private-room (code 503)")
        rig.scheduler.advance(by: .seconds(1))
        try await rig.recorder.next { $0 == .subscribed(channel: "private-room") }
    }
}
