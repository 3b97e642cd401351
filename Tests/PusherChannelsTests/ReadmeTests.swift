import Foundation
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The README's snippets, word for word; `ci/checks/snippets` compares them.
@Suite struct ReadmeTests {
    /// Only compiled, because it would connect to a server.
    func use() {
        let auth = AuthMethod.endpoint(authEndpoint: "https://example.com/pusher/auth")
        let pusher = Pusher(key: "app-key", options: PusherClientOptions(authMethod: auth, host: .cluster("eu")))
        pusher.connect()
        let orders = pusher.subscribe("private-orders")
        orders.bind(eventName: "placed") { event in print(event.data ?? "") }
        // where the app allows client events
        orders.trigger(eventName: "client-seen", data: ["by": "ann"])
        let lobby = pusher.subscribe("presence-lobby", onMemberAdded: { print("\($0.userID) came") })
        _ = lobby
    }

    func follow(_ pusher: Pusher) async throws {
        let prices = pusher.subscribe("prices").events(named: "price", as: Double.self)
        async let connection: Void = pusher.run()  // until cancelled or shut down
        for try await price in prices {
            switch price {
            case .success(let price): print(price)
            case .failure(let error): print("not a price: \(error)")
            }
        }
        try await connection
    }

    func keepOrders(_ pusher: Pusher) async throws {
        let updates = pusher.updates(of: "private-orders")
        async let connection: Void = pusher.run()
        for try await update in updates {
            switch update {
            case .subscribed: print("orders come in from here on")
            case .event(let event) where event.eventName == "placed":
                let order: Order
                do { order = try event.decode(Order.self) } catch { print("not an order: \(error)"); break }
                try await store(order)  // an error ends the loop
            case .eventsMayBeMissing(let gap): try await storeOrders(since: gap.since.addingTimeInterval(-5))
            case .subscriptionFailed(let error): print("no orders, for now: \(error)")
            default: break
            }
        }
        try await connection
    }

    enum OrderEvent: ChannelEvents {
        case placed(Order)
        case cancelled(id: Int)
        case typing(by: String)

        enum CodingKeys: String, CodingKey {
            case placed, cancelled
            case typing = "client-typing"
        }
    }

    func publishTyped(_ api: PusherHTTPAPI, _ channel: PusherChannel, _ order: Order, name: String) async throws {
        try await api.publish(OrderEvent.placed(order), to: "private-orders")
        channel.trigger(OrderEvent.typing(by: name))
    }

    func readTyped(_ pusher: Pusher) async throws {
        let updates = pusher.updates(of: "private-orders", as: OrderEvent.self)
        for try await update in updates {
            switch update {
            case .event(.placed(let order), _): try await store(order)
            case .event(.cancelled(let id), _): try await remove(id)
            case .event(.typing, let message): print(message.userID ?? "")
            case .unknown(let message): print("new: \(message.eventName)")
            case .undecodable(_, let error): print("not an order: \(error)")
            case .channel(.eventsMayBeMissing(let gap)): try await storeOrders(since: gap.since.addingTimeInterval(-5))
            case .channel: break
            }
        }
    }

    private func remove(_ id: Int) async throws {}

    func withLaravel(_ pusher: Pusher, _ request: inout URLRequest, _ token: String, name: String) {
        var endpoint = AuthEndpoint("https://shop.example/broadcasting/auth")
        endpoint.headers = { _ in ["Authorization": "Bearer \(token)"] }
        _ = PusherClientOptions(authMethod: .customEndpoint(endpoint), host: .host("reverb.example"))
        let orders = pusher.subscribe("private-orders")  // Echo.private("orders")
        orders.bind(eventName: LaravelEvent.name("OrderPlaced")) { event in print(event.data ?? "") }
        orders.trigger(eventName: LaravelEvent.whisper("typing"), data: ["name": name])
        request.setValue(pusher.connection.socketID, forHTTPHeaderField: "X-Socket-ID")
    }

    func copyOrders(_ pusher: Pusher, _ api: OrdersAPI, _ store: OrderStore) async throws {
        let orders = pusher.follow("private-orders") { try await api.orders() }
        async let connection: Void = pusher.run()
        for try await step in orders {
            switch step {
            case .state(let all, _):  // first, and again after each gap
                try await store.replace(all)
            case .event(let event):  // those since the state
                try await store.apply(event)
            case .failed(let error):  // it is tried again
                print("no orders, for now: \(error)")
            }
        }
        try await connection
    }

    func copyManyOrders(_ pool: PusherPool, _ markets: [String], _ api: OrdersAPI, _ store: OrderStore) async throws {
        let steps = pool.follow(markets) { market in try await api.orders(of: market) }
        for try await element in steps {
            switch element.step {
            case .state(let all, _): try await store.replace(all, of: element.channelName)
            case .event(let event): try await store.apply(event)
            case .failed(let error): print("\(element.channelName): \(error)")
            }
        }
    }

    func copyWithVersions(_ pusher: Pusher, _ api: OrdersAPI) -> FollowStream<OrdersAPI.Orders> {
        let orders = pusher.follow(
            "private-orders",
            covers: { all, event in
                let order = try? event.decode(Order.self)
                guard let version = order?.version else { return false }
                return version <= all.version
            },
            loading: { try await api.orders() })
        return orders
    }

    func copyInATask(_ pusher: Pusher, _ api: OrdersAPI, _ view: OrderView) -> Task<Void, Never> {
        let following = Task {
            do {
                for try await step in pusher.follow("private-orders", loading: { try await api.orders() }) { view.show(step) }
            } catch {
                view.show(error)
            }
        }
        return following
    }

    func serversOfOtherRegions(_ pusher: Pusher) -> PusherClientOptions {
        pusher.move(to: .cluster("us2"))
        let options = PusherClientOptions(
            host: .host("eu.example.com"),
            fallbackHosts: [PusherServer(.host("us.example.com")), PusherServer(.host("10.0.0.7"), port: 6001, useTLS: false)])
        return options
    }

    struct OrdersAPI {
        struct Orders: Sendable {
            let version: Int
        }

        func orders() async throws -> Orders { Orders(version: 1) }
        func orders(of market: String) async throws -> Orders { Orders(version: 1) }
    }

    struct OrderStore {
        func replace(_ all: OrdersAPI.Orders, of market: String = "") async throws {}
        func apply(_ event: PusherEvent) async throws {}
    }

    struct OrderView {
        func show(_ step: FollowStep<OrdersAPI.Orders>) {}
        func show(_ error: any Error) {}
    }

    struct Order: Codable {
        let id: Int
        var version: Int?
    }

    private func store(_ order: Order) async throws {}

    func followOrders(_ pusher: Pusher, clock: some Clock<Duration>) async throws {
        while true {
            do {
                for try await update in pusher.updates(of: "private-orders") { try await handle(update) }
                return  // nothing more can come
            } catch {
                guard let refusal = error as? PusherError, [.authorization, .subscriptionRefused].contains(refusal.kind)
                else { throw error }
                print("no orders, for now: \(refusal)")
                try await clock.sleep(for: .seconds(60), tolerance: nil)
            }
        }
    }

    /// A loop like the one above, but its body doesn't throw. The test is that it compiles: patterns of a `catch` don't.
    func printOrders(_ pusher: Pusher) async throws {
        do {
            for try await update in pusher.updates(of: "private-orders") { print(update) }
        } catch {
            guard [.authorization, .subscriptionRefused].contains(error.kind) else { throw error }
            print("no orders, for now: \(error)")
        }
    }

    func withCoders(_ options: PusherClientOptions) -> Pusher {
        var environment = PusherEnvironment.live
        environment.jsonDecoder = {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
        environment.jsonEncoder = {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            return encoder
        }
        let pusher = Pusher(key: "app-key", options: options, environment: environment)
        return pusher
    }

    private func handle(_ update: ChannelUpdate) async throws {}

    final class Status: PusherDelegate {
        func changedConnectionState(from old: ConnectionState, to new: ConnectionState) { print("\(new)") }
        func receivedError(error: PusherError) { print("\(error)") }
    }

    @Test func `A client doesn't keep its delegate alive`() {
        let pusher = ClientRig().pusher
        do {
            let status = Status()
            pusher.delegate = status
            #expect(pusher.delegate === status)
            withExtendedLifetime(status) {}
        }
        #expect(pusher.delegate == nil)
    }

    private func storeOrders(since date: Date) async throws {}

    func publish(_ secret: String) async throws {
        let api = PusherHTTPAPI(appID: "app-id", key: "app-key", secret: secret, host: .cluster("eu"))
        try await api.trigger(channels: ["news", "private-orders"], eventName: "placed", data: ["id": 7])
    }

    @Test func `A client subscribes again after the server shuts down`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let news = pusher.subscribe("private-news")
            pusher.connect()
            harness.server.shutdown()
            harness.scheduler.advance(by: .seconds(5))
            #expect(news.subscribed)
        }
    }
}
