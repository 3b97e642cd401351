#if canImport(CLibwebsockets)

/// Lets only so many connections to one endpoint open at a time, in the order in which they were asked for.
///
/// When a server comes back, thousands of clients do: handshakes that are all begun at once keep each other from ending in
/// time, and an endpoint that is dead holds up only those who want it.
final class OpeningQueue {
    /// How many may be under way to one endpoint.
    static let limit = 64

    private struct Endpoint {
        var underWay = 0
        var waiting: [ConnectionKey: () -> Void] = [:]
        var order: [ConnectionKey] = []
        var head = 0
    }

    private var endpoints: [String: Endpoint] = [:]

    /// Calls `begin` when it is the connection's turn, at once if possible. Whoever began says so when it is ``done(_:to:)``.
    func enter(_ key: ConnectionKey, to endpoint: String, begin: @escaping () -> Void) {
        if endpoints[endpoint, default: Endpoint()].underWay < Self.limit {
            endpoints[endpoint, default: Endpoint()].underWay += 1
            begin()
        } else {
            endpoints[endpoint]?.waiting[key] = begin
            endpoints[endpoint]?.order.append(key)
        }
    }

    /// A connection is open or has failed, or doesn't want to wait any more.
    func done(_ key: ConnectionKey, to endpoint: String) {
        guard var queue = endpoints.removeValue(forKey: endpoint) else { return }
        var next: (() -> Void)?
        if queue.waiting.removeValue(forKey: key) == nil {
            while next == nil, queue.head < queue.order.count {
                next = queue.waiting.removeValue(forKey: queue.order[queue.head])
                queue.head += 1
            }
            if next == nil { queue.underWay -= 1 }
        }
        if queue.waiting.isEmpty {
            queue.order = []
            queue.head = 0
        }
        if queue.underWay > 0 { endpoints[endpoint] = queue }
        next?()
    }
}
#endif
