import PusherChannels

/// The latest prices. One that wasn't renewed for a while is stale, and the broker is asked for it.
actor PriceBoard {
    struct Entry: Equatable {
        let cents: Int
        let since: Instant
        var isStale = false
    }

    static let freshness = Duration.seconds(15)

    private(set) var entries: [String: Entry] = [:]
    private let broker: Broker
    private let scheduler: any Scheduler
    private var reading: Task<Void, Never>?
    private var asking: [String: Task<Void, Never>] = [:]
    private var timers: [String: any ScheduledAction] = [:]
    private var watchers: [AsyncStream<Price>.Continuation] = []

    init(broker: Broker) {
        self.broker = broker
        scheduler = broker.world.pusher.scheduler
    }

    func follow(_ prices: DecodedStream<Price>) {
        reading = Task { [weak self] in
            do {
                for try await price in prices {
                    // A price that can't be read is one of a newer version of the broker's.
                    if let price = try? price.get() { await self?.take(price) }
                }
            } catch {
                // The line's monitor tells the trader; the prices become stale.
            }
        }
    }

    /// The prices from now on.
    func watch() -> AsyncStream<Price> {
        let (prices, watcher) = AsyncStream<Price>.makeStream()
        watchers.append(watcher)
        return prices
    }

    func stop() {
        reading?.cancel()
        reading = nil
        for task in asking.values { task.cancel() }
        for timer in timers.values { timer.cancel() }
        for watcher in watchers { watcher.finish() }
        (asking, timers, watchers, entries) = ([:], [:], [], [:])
    }

    private func take(_ price: Price) {
        guard reading != nil else { return }
        let (symbol, now) = (price.symbol, scheduler.now)
        entries[symbol] = Entry(cents: price.cents, since: now)
        timers[symbol]?.cancel()
        timers[symbol] = scheduler.schedule(at: now + Self.freshness, label: "\(symbol) becomes stale") { [weak self] in
            Task { [weak self] in await self?.checkAge(of: symbol) }
        }
        for watcher in watchers { watcher.yield(price) }
    }

    private func checkAge(of symbol: String) {
        // A newer price may have come while this waited for the actor.
        guard let entry = entries[symbol], scheduler.now - entry.since >= Self.freshness else { return }
        entries[symbol]?.isStale = true
        asking[symbol]?.cancel()
        asking[symbol] = Task { [weak self, broker] in
            guard let price = try? await broker.price(of: symbol), !Task.isCancelled else { return }
            await self?.take(price)
        }
    }
}

/// Trades that wait for their price.
actor LimitOrders {
    enum State: Equatable {
        case waiting
        case placing
        case placed(orderID: String)
        case failed(Broker.Failure)
        case withdrawn
    }

    private struct Limit {
        let trade: Trade
        var state = State.waiting
        var placing: Task<Void, Never>?
    }

    private let broker: Broker
    private var limits: [String: Limit] = [:]
    private var watching: Task<Void, Never>?

    init(broker: Broker) { self.broker = broker }

    func state(of name: String) -> State? { limits[name]?.state }

    func follow(_ prices: AsyncStream<Price>) {
        watching = Task { [weak self] in
            for await price in prices { await self?.check(price) }
        }
    }

    /// Places a trade as soon as a price is as good as the trade's.
    func add(_ name: String, _ trade: Trade) {
        withdraw(name)
        limits[name] = Limit(trade: trade)
    }

    /// Withdraws a trade that isn't placed yet.
    func withdraw(_ name: String) {
        guard let limit = limits[name], [.waiting, .placing].contains(limit.state) else { return }
        limit.placing?.cancel()
        limits[name]?.placing = nil
        limits[name]?.state = .withdrawn
    }

    func stop() {
        watching?.cancel()
        watching = nil
        for name in limits.keys { withdraw(name) }
    }

    private func check(_ price: Price) {
        for (name, limit) in limits where limit.state == .waiting && limit.trade.isGood(at: price) {
            limits[name]?.state = .placing
            limits[name]?.placing = Task { [weak self, broker] in
                do {
                    let order = try await broker.place(limit.trade)
                    await self?.end(name, .placed(orderID: order.id))
                } catch {
                    await self?.end(name, .failed(error as? Broker.Failure ?? .unreachable))
                }
            }
        }
    }

    private func end(_ name: String, _ state: State) {
        // A trade that was withdrawn meanwhile stays so.
        guard limits[name]?.state == .placing else { return }
        limits[name]?.state = state
        limits[name]?.placing = nil
    }
}
