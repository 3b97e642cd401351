#if os(Linux)

/// Limits the number of connections to one endpoint that open at a time, in the order in which they were requested.
///
/// When a server comes back, so do thousands of clients. Handshakes that all begin at once keep each other from finishing in
/// time. An endpoint that is dead holds up only the connections to it.
struct ConnectLimiter {
    /// The maximum number of connections to one endpoint that open at a time.
    static let limit = 64

    private struct Endpoint {
        var underWay: Set<LoopKey> = []
        var waiting: [LoopKey: () -> Void] = [:]
        /// The keys in the order in which they came; some have left.
        var order = Deque<LoopKey>()

        mutating func popFirst() -> (key: LoopKey, begin: () -> Void)? {
            while let key = order.popFirst() {
                if let begin = waiting.removeValue(forKey: key) { return (key, begin) }
            }
            return nil
        }

        /// Removes the keys that have left or begun once they are the majority: in a queue that never empties, they would add up.
        mutating func compact() {
            guard order.count > 2 * waiting.count + ConnectLimiter.limit else { return }
            var kept = Deque<LoopKey>()
            while let key = order.popFirst() {
                if waiting[key] != nil { kept.append(key) }
            }
            order = kept
        }
    }

    private var endpoints: [String: Endpoint] = [:]
    private var ready: [() -> Void] = []

    /// Indicates whether no connection's turn has come.
    var isEmpty: Bool { ready.isEmpty }

    /// The number of keys that are held: those that wait, and some that no longer do.
    var count: Int { endpoints.values.reduce(0) { $0 + $1.order.count } }

    /// Queues a connection; ``takeTurns()`` returns `begin` when it is the connection's turn.
    mutating func enter(_ key: LoopKey, to endpoint: String, begin: @escaping () -> Void) {
        endpoints[endpoint, default: Endpoint()].waiting[key] = begin
        endpoints[endpoint]?.order.append(key)
        advance(endpoint)
    }

    /// Removes a connection that is open, has failed, or no longer wants to wait.
    mutating func leave(_ key: LoopKey, to endpoint: String) {
        endpoints[endpoint]?.underWay.remove(key)
        endpoints[endpoint]?.waiting[key] = nil
        advance(endpoint)
    }

    /// Returns the closures of the connections whose turn it is now.
    mutating func takeTurns() -> [() -> Void] {
        guard !ready.isEmpty else { return [] }
        defer { ready = [] }
        return ready
    }

    private mutating func advance(_ name: String) {
        guard var endpoint = endpoints.removeValue(forKey: name) else { return }
        while endpoint.underWay.count < Self.limit, let (key, begin) = endpoint.popFirst() {
            endpoint.underWay.insert(key)
            ready.append(begin)
        }
        guard !endpoint.waiting.isEmpty || !endpoint.underWay.isEmpty else { return }
        endpoint.compact()
        endpoints[name] = endpoint
    }
}
#endif
