import Foundation
import Logging
import PusherChannels
import ServiceLifecycle

struct Order: Codable, Sendable {
    let id: Int
    let item: String
    /// Nil for those who needn't know it.
    var address: String?
}

/// The events of the channels of orders, for those who publish them and for those who read them.
enum OrderEvent: ChannelEvents { case placed(Order) }

/// Does something again and again, until it is asked to end.
struct Repeated: Service {
    let body: @Sendable () async throws -> Void

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                do { try await body() } catch { logger.warning("tried again", metadata: ["error": "\(error)"]) }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }
}

/// Publishes the orders that are stored and not yet published, however often the server or this process was away meanwhile.
struct Outbox {
    let database: Database
    let api: PusherHTTPAPI

    /// What is published twice has the same key, for a server that knows keys, and the same id, for readers.
    @Sendable func publishAll() async throws {
        for row in try await database.run("SELECT id, item, address FROM orders WHERE NOT published ORDER BY id LIMIT 99") {
            var order = Order(id: Int(row[0]) ?? 0, item: row[1], address: row[2])
            let delivery = OrderEvent.placed(order)
            try await api.publish(delivery, to: "private-encrypted-deliveries", idempotencyKey: "delivery-\(order.id)")
            order.address = nil
            try await api.publish(OrderEvent.placed(order), to: "private-orders", idempotencyKey: "order-\(order.id)")
            try await database.run("UPDATE orders SET published = 1 WHERE id = ?", row[0])
        }
    }
}

/// Keeps the warehouse's copy of the orders. Orders are never deleted, so a state is stored as its events are.
struct Warehouse: Service {
    let database: Database
    let steps: TypedFollowStream<[Order], OrderEvent>

    func run() async throws {
        for try await step in steps {
            do {
                switch step {
                case .state(let orders, _): try await pack(orders)
                case .event(.placed(let order), _): try await pack([order])
                case .failed(let error): logger.warning("tried again", metadata: ["error": "\(error)"])
                case .unknown, .undecodable: break
                }
            } catch {
                // Such as a full disk. The copy lacks something from here on, so the state is loaded again.
                logger.error("not stored", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
                steps.reload()
            }
        }
    }

    private func pack(_ orders: [Order]) async throws {
        let json = String(decoding: try JSONEncoder().encode(orders), as: UTF8.self)
        try await database.run("INSERT OR REPLACE INTO packing SELECT value->>'id', value->>'item' FROM json_each(?)", json)
    }
}
