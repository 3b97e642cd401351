#if os(Linux)

/// Lets only so many connections to one endpoint open at a time, in the order in which they were asked for.
///
/// When a server comes back, thousands of clients do: handshakes that are all begun at once keep each other from ending in
/// time, and an endpoint that is dead holds up only those who want it.
struct ConnectLimiter {
    /// The number of connections that may be under way to one endpoint.
    static let limit = 64

    private struct Endpoint {
        var underWay: Set<ConnectionKey> = []
        var waiting: [ConnectionKey: () -> Void] = [:]
        /// Keys of those who waited; some have left.
        var order = Deque<ConnectionKey>()

        mutating func popFirst() -> (key: ConnectionKey, begin: () -> Void)? {
            while let key = order.popFirst() {
                if let begin = waiting.removeValue(forKey: key) { return (key, begin) }
            }
            return nil
        }

        /// Forgets those who have left or begun, when they are the most: in a queue that never empties they would add up.
        mutating func compact() {
            guard order.count > 2 * waiting.count + ConnectLimiter.limit else { return }
            var kept = Deque<ConnectionKey>()
            while let key = order.popFirst() {
                if waiting[key] != nil { kept.append(key) }
            }
            order = kept
        }
    }

    private var endpoints: [String: Endpoint] = [:]
    private var turns: [() -> Void] = []

    /// True if it is nobody's turn.
    var isEmpty: Bool { turns.isEmpty }

    /// The number of keys it holds: of those who wait, and of some who don't any more.
    var count: Int { endpoints.values.reduce(0) { $0 + $1.order.count } }

    /// Queues; `begin` is among the ``takeTurns()`` when it is the connection's turn.
    mutating func enter(_ key: ConnectionKey, to endpoint: String, begin: @escaping () -> Void) {
        endpoints[endpoint, default: Endpoint()].waiting[key] = begin
        endpoints[endpoint]?.order.append(key)
        advance(endpoint)
    }

    /// A connection is open, has failed, or doesn't want to wait any more.
    mutating func leave(_ key: ConnectionKey, to endpoint: String) {
        endpoints[endpoint]?.underWay.remove(key)
        endpoints[endpoint]?.waiting[key] = nil
        advance(endpoint)
    }

    /// Those whose turn it is now.
    mutating func takeTurns() -> [() -> Void] {
        guard !turns.isEmpty else { return [] }
        defer { turns = [] }
        return turns
    }

    private mutating func advance(_ name: String) {
        guard var endpoint = endpoints.removeValue(forKey: name) else { return }
        while endpoint.underWay.count < Self.limit, let (key, begin) = endpoint.popFirst() {
            endpoint.underWay.insert(key)
            turns.append(begin)
        }
        guard !endpoint.waiting.isEmpty || !endpoint.underWay.isEmpty else { return }
        endpoint.compact()
        endpoints[name] = endpoint
    }
}
#endif
