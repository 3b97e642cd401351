#if os(Linux)

/// The connections of one route, and the requests that wait for one of them, in order.
final class ConnectionPool {
    /// The maximum number of connections: as many as browsers make.
    static let limit = 6

    private let loop: EventLoop
    private let resolve: AddressResolver.Resolve
    /// Called when no request and no connection is left.
    private let emptied: () -> Void
    /// The requests that wait. Those that have ended keep their place while they are fewer than half, because finding one takes
    /// longer the more others there are.
    private var waiting = Deque<HTTPExchange>()
    private var ended = 0
    private var connections: [HTTPConnection] = []
    /// Prevents nested calls: a request that fails at once makes way for the next ones, which the call further up the stack
    /// serves already.
    private var isServing = false

    init(loop: EventLoop, resolve: @escaping AddressResolver.Resolve, emptied: @escaping () -> Void) {
        self.loop = loop
        self.resolve = resolve
        self.emptied = emptied
    }

    // MARK: Requests

    func enter(_ exchange: HTTPExchange) {
        exchange.pool = self
        exchange.setDeadline { [weak self, weak exchange] in
            if let exchange { self?.timedOut(exchange) }
        }
        waiting.append(exchange)
        serve()
    }

    /// Ends a request early.
    func withdraw(_ exchange: HTTPExchange, _ failure: HTTPFailure) {
        if let connection = connections.first(where: { $0.exchange === exchange }) {
            connection.close()
        } else if !exchange.isFinished {
            ended += 1
        }
        exchange.end(.failure(failure))
        if ended * 2 > waiting.count { forgetEnded() }
        serve()
    }

    /// Ends all requests and closes all connections.
    func stop(_ failure: HTTPFailure) {
        let asked = connections.filter(\.isAsking).compactMap(\.exchange)
        let unsent = connections.filter { !$0.isAsking }.compactMap(\.exchange) + waiting
        waiting = Deque()
        ended = 0
        for connection in connections { connection.close() }
        for exchange in asked { exchange.end(.failure(failure)) }
        for exchange in unsent { exchange.end(.failure(failure.ofUnsentRequest)) }
    }

    private func timedOut(_ exchange: HTTPExchange) {
        let connection = connections.first { $0.exchange === exchange }
        let text = connection?.overdue ?? "No connection to \(exchange.request.endpoint) was free for the request"
        let failure = HTTPFailure(.timedOut(text, after: exchange.request.timeout))
        withdraw(exchange, connection?.isAsking == true ? failure : failure.ofUnsentRequest)
    }

    // MARK: Connections

    /// Serves the next request over a connection that has answered.
    func freed() {
        serve()
    }

    /// Forgets a connection that is closed.
    func lost(_ connection: HTTPConnection) {
        connections.removeAll { $0 === connection }
        serve()
    }

    /// Queues a request again, because its connection was closed before it answered.
    func again(_ exchange: HTTPExchange) {
        exchange.needsNewConnection = true
        waiting.prepend(exchange)
    }

    /// Closes the idle connections.
    func closeIdle() {
        for connection in connections where connection.exchange == nil { connection.close() }
    }

    private func forgetEnded() {
        let others = waiting.filter { !$0.isFinished }
        waiting = Deque()
        waiting.append(contentsOf: others)
        ended = 0
    }

    private func serve() {
        guard !isServing else { return }
        isServing = true
        while let exchange = waiting.first {
            if exchange.isFinished {
                waiting.popFirst()
                ended -= 1
            } else if let connection = connection(for: exchange) {
                waiting.popFirst()
                connection.take(exchange)
            } else {
                break
            }
        }
        isServing = false
        if waiting.isEmpty, connections.isEmpty { emptied() }
    }

    /// Returns a connection that is free or new; `nil` if all are taken.
    private func connection(for exchange: HTTPExchange) -> HTTPConnection? {
        // The last one, so that the others grow old and are closed.
        while !exchange.needsNewConnection, let idle = connections.last(where: { $0.exchange == nil }) {
            if idle.looksOpen() { return idle }
        }
        guard connections.count < Self.limit else { return nil }
        let connection = HTTPConnection(pool: self, loop: loop, resolve: resolve)
        connections.append(connection)
        return connection
    }
}
#endif
