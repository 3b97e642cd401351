import Foundation
import PusherChannels

/// The doc comments' snippets, word for word; `ci/checks/snippets` compares them. They are only compiled:
/// other tests prove what they call.
struct DocCommentTests {
    /// The snippet of ``Pusher``.
    func aFirstClient() {
        let pusher = Pusher(key: "app-key", options: PusherClientOptions(host: .cluster("eu")))
        pusher.connect()
        let news = pusher.subscribe("news")
        news.bind(eventName: "headline") { event in print(event.data ?? "") }
    }

    /// The snippet of ``PusherPool``.
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
    func route(_ handler: PusherAuthHandler, _ body: [UInt8]) async -> PusherAuthHandler.Response {
        struct User: Sendable {
            let id = "ann"
            func mayJoin(_ channel: String) -> Bool { channel == "private-orders" }
        }
        let user = User()
        let reply = await handler.respond(to: body) { request in
            guard let channel = request.channelName else { return .user(id: user.id) }
            guard user.mayJoin(channel) else { return .refused }
            return channel.hasPrefix("presence-") ? .user(id: user.id) : .allowed
        }
        return reply
    }

    /// The snippet of ``Shard/init(environment:)``.
    func aShard() throws -> Shard {
        let shard = try Shard(environment: ProcessInfo.processInfo.environment)
        return shard
    }

    /// The snippet of ``AuthEndpoint``.
    func anEndpoint() -> AuthEndpoint {
        struct Tokens {
            func token(fresh: Bool) async throws -> String { fresh ? "fresh" : "stale" }
        }
        let tokens = Tokens()
        var endpoint = AuthEndpoint("https://example.com/broadcasting/auth")
        endpoint.headers = { context in ["Authorization": "Bearer \(try await tokens.token(fresh: context.isRetry))"] }
        return endpoint
    }

    /// The snippet of ``AuthMethod`` for a custom handler.
    func aHandler() -> AuthMethod {
        struct Backend {
            func post(_ path: String, _ form: [String: String]) async throws -> (Int, Data) { (200, Data()) }
        }
        let backend = Backend()
        let method = AuthMethod.customHandler { socketID, channel in
            let (status, body) = try await backend.post("/pusher/auth", ["socket_id": socketID, "channel_name": channel])
            guard status == 200 else {
                throw PusherError(.authorization, code: status, message: "no authorization for \(channel)")
            }
            return try JSONDecoder().decode(PusherAuth.self, from: body)
        }
        return method
    }
}
