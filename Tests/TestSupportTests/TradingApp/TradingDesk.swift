import Foundation
import PusherChannels

/// What the trader owns. It is loaded every half minute, and whenever the line was broken.
actor Portfolio {
    static let age = Duration.seconds(30)

    private(set) var holdings: [Holding] = []
    private(set) var problem: Broker.Failure?
    private let broker: Broker
    private var refreshing: Task<Void, Never>?
    private var loading: Task<[Holding], any Error>?

    init(broker: Broker) { self.broker = broker }

    func start() {
        refreshing = Task { [weak self, clock = broker.world.clock] in
            while !Task.isCancelled {
                await self?.reload()
                try? await clock.sleep(for: Self.age)
            }
        }
    }

    /// Loads the portfolio in place of a load under way, which may have begun before what is asked for.
    func reload() async {
        guard refreshing != nil else { return }
        loading?.cancel()
        let load = Task { [broker] in try await broker.portfolio() }
        loading = load
        let result = await load.result
        guard loading == load else { return }
        loading = nil
        switch result {
        case .success(let loaded): (holdings, problem) = (loaded, nil)
        case .failure(let error): problem = error as? Broker.Failure ?? .unreachable
        }
    }

    func stop() {
        refreshing?.cancel()
        loading?.cancel()
        (refreshing, loading, holdings, problem) = (nil, nil, [], nil)
    }
}

/// The trader's orders, as the broker reports them.
actor OrderBook {
    private(set) var orders: [String: Order] = [:]
    private(set) var problem: String?
    private let broker: Broker
    private var reading: Task<Void, Never>?

    init(broker: Broker) { self.broker = broker }

    func follow(_ updates: PusherStream<ChannelUpdate>) {
        reading = Task { [weak self] in
            do {
                for try await update in updates { await self?.take(update) }
            } catch {
                await self?.note("no more orders: \(error)")
            }
        }
    }

    func stop() {
        reading?.cancel()
        (reading, orders, problem) = (nil, [:], nil)
    }

    private func note(_ problem: String) { self.problem = problem }

    private func take(_ update: ChannelUpdate) async {
        guard reading != nil else { return }
        switch update {
        case .subscribed: problem = nil
        case .event(let event) where event.eventName == "order":
            if let order = try? event.decode(Order.self) { orders[order.id] = order }
        case .eventsMayBeMissing: await reload()
        case .subscriptionFailed(let error): note("orders are late: \(error.code.map(String.init) ?? error.message)")
        default: break
        }
    }

    private func reload() async {
        do {
            let all = try await broker.orders()
            if reading != nil { orders = Dictionary(all.map { ($0.id, $0) }) { $1 } }
        } catch {
            note("orders may be missing")
        }
    }
}

/// The traders who are there. The client calls its closures on a queue of its own.
final class TraderRoom: @unchecked Sendable {
    private let lock = NSLock()
    private var channel: PusherPresenceChannel?
    private var lines: [String] = []

    var news: [String] { lock.withLock { lines } }
    var traders: [String] { lock.withLock { channel }?.members.map(\.userID).sorted() ?? [] }

    func enter(_ pusher: Pusher) {
        let channel = pusher.subscribeToPresenceChannel(
            channelName: "presence-traders",
            onMemberAdded: { [weak self] in self?.note("\($0.userID) came") },
            onMemberRemoved: { [weak self] in self?.note("\($0.userID) left") })
        lock.withLock { self.channel = channel }
    }

    func leave() { lock.withLock { (channel, lines) = (nil, []) } }

    private func note(_ line: String) { lock.withLock { lines.append(line) } }
}

/// Passes on what the client reports of its connection.
final class LineMonitor: PusherDelegate, Sendable {
    let (states, continuation) = AsyncStream<ConnectionState>.makeStream()

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) { continuation.yield(new) }
}

/// The app: what a trader sees between login and logout.
@MainActor final class TradingDesk {
    let prices: PriceBoard
    let limits: LimitOrders
    let portfolio: Portfolio
    let orders: OrderBook
    let quotes: QuoteDesk
    let room = TraderRoom()
    private(set) var banner = "logged out"
    private let broker: Broker
    private var pusher: Pusher?
    private var monitor: LineMonitor?
    private var following: Task<Void, Never>?

    init(user: String, world: TradingWorld = TradingWorld()) {
        broker = Broker(user: user, world: world)
        prices = PriceBoard(broker: broker)
        limits = LimitOrders(broker: broker)
        portfolio = Portfolio(broker: broker)
        orders = OrderBook(broker: broker)
        quotes = QuoteDesk(broker: broker)
    }

    func logIn() async {
        let user = broker.user
        var endpoint = AuthEndpoint("https://api.broker.example/channels/auth")
        endpoint.headers = { _ in ["Authorization": "Bearer \(user)"] }
        endpoint.parameters = { _ in ["user_id": user] }
        let options = PusherClientOptions(authMethod: .customEndpoint(endpoint), host: .cluster("eu"))
        let pusher = Pusher(key: "trading-key", options: options, environment: broker.world.pusher)
        let monitor = LineMonitor()
        pusher.delegate = monitor
        (self.pusher, self.monitor) = (pusher, monitor)
        following = Task { [weak self] in
            var wasLost = false
            for await state in monitor.states {
                await self?.show(state, again: wasLost)
                wasLost = state == .reconnecting || wasLost && state != .connected
            }
        }
        await limits.follow(prices.watch())
        await prices.follow(pusher.subscribe("prices").events(named: "price", as: Price.self))
        await orders.follow(pusher.updates(of: "private-orders-\(user)"))
        room.enter(pusher)
        await portfolio.start()
        pusher.connect()
    }

    func logOut() async {
        pusher?.disconnect()
        following?.cancel()
        (pusher, monitor, following) = (nil, nil, nil)
        quotes.clear()
        room.leave()
        banner = "logged out"
        await limits.stop()
        await prices.stop()
        await orders.stop()
        await portfolio.stop()
    }

    private func show(_ state: ConnectionState, again: Bool) async {
        guard pusher != nil else { return }
        banner = state == .connected ? "online" : "\(state)"
        if state == .connected, again { await portfolio.reload() }
    }
}
