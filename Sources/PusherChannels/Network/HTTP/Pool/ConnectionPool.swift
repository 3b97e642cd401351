#if canImport(CLibwebsockets)

/// What connections have in common that can stand in for each other.
struct ConnectionPoolKey: Hashable {
    /// Whose connections they are.
    let pool: ConnectionKey
    let host: String
    let port: Int
    let way: Route.Way
    /// Nil for no TLS.
    let tls: TLSConfiguration?
}

/// The connections of one kind, and the requests that wait for one of them, in their order.
final class ConnectionPool {
    /// How many connections there are at most: as many as browsers make.
    static let limit = 6

    private enum Turn {
        case open, taken
    }

    private let key: ConnectionPoolKey
    private let service: EventLoop
    private let resolve: AddressResolver.Resolve
    /// Called when there is nothing left.
    private let emptied: () -> Void
    private var waiting: [HTTPExchange] = []
    private var connections: [HTTPConnection] = []
    /// Requests that fail at once let the next ones go ahead; taken while that happens already, further up the stack.
    private var turn = Turn.open

    init(
        _ key: ConnectionPoolKey, service: EventLoop, resolve: @escaping AddressResolver.Resolve,
        emptied: @escaping () -> Void
    ) {
        self.key = key
        self.service = service
        self.resolve = resolve
        self.emptied = emptied
    }

    // MARK: Requests

    func enter(_ exchange: HTTPExchange) {
        exchange.lane = self
        exchange.setDeadline { [weak self, weak exchange] in
            if let exchange { self?.timedOut(exchange) }
        }
        waiting.append(exchange)
        serve()
    }

    /// Ends a request early.
    func withdraw(_ exchange: HTTPExchange, _ failure: HTTPFailure) {
        if let index = waiting.firstIndex(where: { $0 === exchange }) {
            waiting.remove(at: index)
        } else if let connection = connections.first(where: { $0.exchange === exchange }) {
            connection.close()
            lost(connection)
        }
        exchange.end(.failure(failure))
    }

    /// Ends everything.
    func stop(_ failure: HTTPFailure) {
        let exchanges = connections.compactMap(\.exchange) + waiting
        waiting = []
        closeAll(connections)
        for exchange in exchanges { exchange.end(.failure(failure)) }
    }

    private func timedOut(_ exchange: HTTPExchange) {
        let connection = connections.first { $0.exchange === exchange }
        let text = connection?.overdue ?? "No connection to \(exchange.request.endpoint) was free for the request"
        withdraw(exchange, HTTPFailure(.timedOut(text, after: exchange.request.timeout)))
    }

    // MARK: Connections

    /// One has answered, and may be used again.
    func freed() {
        serve()
    }

    /// One is closed.
    func lost(_ connection: HTTPConnection) {
        connections.removeAll { $0 === connection }
        serve()
    }

    /// One was closed before it answered a request, which is to be made again.
    func lost(_ connection: HTTPConnection, repeating exchange: HTTPExchange) {
        exchange.attempt = .second
        waiting.insert(exchange, at: 0)
        lost(connection)
    }

    /// Closes what nobody uses.
    func closeIdle() {
        closeAll(connections.filter { $0.exchange == nil })
    }

    private func closeAll(_ list: [HTTPConnection]) {
        for connection in list {
            connection.close()
            lost(connection)
        }
    }

    private func serve() {
        guard turn == .open else { return }
        turn = .taken
        while let exchange = waiting.first, let connection = connection(for: exchange) {
            waiting.removeFirst()
            connection.take(exchange)
        }
        turn = .open
        if waiting.isEmpty, connections.isEmpty { emptied() }
    }

    /// One that is free or new; nil if all are taken.
    private func connection(for exchange: HTTPExchange) -> HTTPConnection? {
        // The last: the others grow old and go.
        if exchange.attempt == .first, let idle = connections.last(where: { $0.exchange == nil }) { return idle }
        guard connections.count < Self.limit else { return nil }
        let connection = HTTPConnection(key, lane: self, service: service, resolve: resolve)
        connections.append(connection)
        return connection
    }
}
#endif
