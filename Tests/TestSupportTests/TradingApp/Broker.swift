import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the trading app takes from outside.
struct TradingWorld: Sendable {
    var pusher: PusherEnvironment = .live
    var clock: any Clock<Duration> = ContinuousClock()
    var request: @Sendable (URLRequest) async throws -> (Data, URLResponse) = { try await URLSession.shared.data(for: $0) }
}

struct Price: Codable, Equatable, Sendable {
    let symbol: String
    let cents: Int
}

struct Quote: Codable, Equatable, Sendable {
    let symbol: String
    let cents: Int
}

struct Holding: Codable, Equatable, Sendable {
    let symbol: String
    let quantity: Int
}

struct Trade: Codable, Equatable, Sendable {
    enum Side: String, Codable, Sendable { case buy, sell }

    let side: Side
    let symbol: String
    let quantity: Int
    /// The worst price that is accepted.
    let cents: Int

    func isGood(at price: Price) -> Bool {
        guard price.symbol == symbol else { return false }
        return side == .buy ? price.cents <= cents : price.cents >= cents
    }
}

struct Order: Codable, Equatable, Sendable {
    enum Status: String, Codable, Sendable { case accepted, filled, cancelled }

    let id: String
    let trade: Trade
    var status: Status
}

/// The broker's HTTP API. A request that the broker has no time for is made again, each time after twice the pause.
struct Broker: Sendable {
    enum Failure: Error, Equatable {
        case refused(status: Int)
        case unreachable
        case silent

        /// Whether another attempt may help.
        var passes: Bool { if case .refused(let status) = self { status == 429 || status >= 500 } else { true } }
    }

    static let attempts = 4
    static let patience = Duration.seconds(10)

    let user: String
    let world: TradingWorld

    func portfolio() async throws -> [Holding] { try await send("GET", "portfolio") }
    func orders() async throws -> [Order] { try await send("GET", "orders") }
    func price(of symbol: String) async throws -> Price { try await send("GET", "prices/\(symbol)") }
    func quote(_ symbol: String, quantity: Int) async throws -> Quote {
        try await send("GET", "quotes/\(symbol)?quantity=\(quantity)")
    }
    func place(_ trade: Trade) async throws -> Order { try await send("POST", "orders", try JSONEncoder().encode(trade)) }

    private func send<Reply: Decodable & Sendable>(_ method: String, _ path: String, _ body: Data? = nil) async throws -> Reply {
        guard let url = URL(string: "https://api.broker.example/\(path)") else { throw Failure.unreachable }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        request.setValue("Bearer \(user)", forHTTPHeaderField: "Authorization")
        var pause = Duration.seconds(1)
        for _ in 1..<Self.attempts {
            do {
                return try await answer(to: request)
            } catch let failure as Failure where failure.passes {
                try await world.clock.sleep(for: pause)
                pause *= 2
            }
        }
        return try await answer(to: request)
    }

    /// Makes a request once, and waits for the answer as long as a trader would.
    private func answer<Reply: Decodable & Sendable>(to request: URLRequest) async throws -> Reply {
        try await withThrowingTaskGroup(of: Reply.self) { group in
            defer { group.cancelAll() }
            group.addTask { try JSONDecoder().decode(Reply.self, from: try await data(for: request)) }
            group.addTask {
                try await world.clock.sleep(for: Self.patience)
                throw Failure.silent
            }
            guard let reply = try await group.next() else { throw Failure.silent }
            return reply
        }
    }

    private func data(for request: URLRequest) async throws -> Data {
        do {
            let (data, response) = try await world.request(request)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            guard status == 200 else { throw Failure.refused(status: status) }
            return data
        } catch is URLError {
            // A cancelled task gets this, too.
            try Task.checkCancellation()
            throw Failure.unreachable
        }
    }
}

/// The quote on the screen: of what the trader has typed last.
@MainActor final class QuoteDesk {
    enum State: Equatable {
        case empty
        case asking(symbol: String)
        case shown(Quote)
        case failed(Broker.Failure)
    }

    private(set) var state = State.empty
    private let broker: Broker
    private var asking: Task<Void, Never>?

    init(broker: Broker) { self.broker = broker }

    func ask(_ symbol: String, quantity: Int) {
        asking?.cancel()
        state = .asking(symbol: symbol)
        asking = Task {
            do {
                // Whoever still types wants no quote for half a number.
                try await broker.world.clock.sleep(for: .milliseconds(300))
                let quote = try await broker.quote(symbol, quantity: quantity)
                try Task.checkCancellation()
                state = .shown(quote)
            } catch {
                // A newer request, or the logout, has set the state in place of a cancelled one.
                if !Task.isCancelled { state = .failed(error as? Broker.Failure ?? .unreachable) }
            }
        }
    }

    func clear() {
        asking?.cancel()
        asking = nil
        state = .empty
    }
}
