#if os(Linux)

/// A connection that carries one request after another.
final class HTTPConnection: ByteStreamOwner {
    private enum Phase {
        case new
        case connecting(Connector, HTTPExchange)
        case asking(ByteStream, HTTPExchange)
        case idle(ByteStream)
        case closed
    }

    private weak var pool: ConnectionPool?
    private let loop: EventLoop
    private let resolve: AddressResolver.Resolve
    private let idleTimer: LoopTimer
    private var phase = Phase.new
    private var reader = ResponseReader(method: "GET")
    /// The part of the request that waits for room.
    private var output = ByteQueue()
    private var requests = 0

    init(pool: ConnectionPool, loop: EventLoop, resolve: @escaping AddressResolver.Resolve) {
        self.pool = pool
        self.loop = loop
        self.resolve = resolve
        idleTimer = loop.timers.makeTimer()
    }

    /// The request that the connection serves at the moment.
    var exchange: HTTPExchange? {
        switch phase {
        case .connecting(_, let exchange), .asking(_, let exchange): exchange
        case .new, .idle, .closed: nil
        }
    }

    /// Indicates whether the connection was given the request, or a part of it.
    var isAsking: Bool { if case .asking = phase { true } else { false } }

    /// A text that names what is late, to be followed by the time limit.
    var overdue: String? {
        guard let route = exchange?.route else { return nil }
        guard isAsking else { return "\(route.endpoint) was not reached" }
        return reader.hasBegun ? "\(route.peer) didn't finish its answer" : "\(route.peer) didn't answer the request"
    }

    // MARK: Commands

    /// Checks an idle connection, and closes it if the server has closed it, which a busy loop may not have noticed yet, or has
    /// sent data that nobody requested. A request on it would be lost, and isn't made again if it isn't idempotent.
    func looksOpen() -> Bool {
        guard case .idle(let stream) = phase else { return false }
        stream.readNow()
        if case .idle = phase { return true }
        return false
    }

    /// Makes a request, if no other one is under way.
    func take(_ exchange: HTTPExchange) {
        idleTimer.cancel()
        if case .idle(let stream) = phase { return ask(exchange, on: stream) }
        let connector = Connector(exchange.route, loop: loop)
        phase = .connecting(connector, exchange)
        connector.start(resolve: resolve) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let stream):
                stream.owner = self
                ask(exchange, on: stream)
            case .failure(let failure):
                fail(exchange, HTTPFailure(failure).ofUnsentRequest)
            }
        }
    }

    /// Closes the connection, and notifies only the pool.
    func close() {
        let phase = phase
        self.phase = .closed
        idleTimer.cancel()
        switch phase {
        case .connecting(let connector, _): connector.cancel()
        case .idle(let stream), .asking(let stream, _): stream.cut()
        case .new: break
        case .closed: return
        }
        pool?.lost(self)
    }

    // MARK: Asking

    private func ask(_ exchange: HTTPExchange, on stream: ByteStream) {
        phase = .asking(stream, exchange)
        requests += 1
        reader = ResponseReader(method: exchange.request.method)
        output.bytes += exchange.request.bytes(forwardedBy: exchange.route.forwardingProxy)
        streamWritable()
    }

    func streamWritable() {
        guard case .asking(let stream, _) = phase else { return }
        output.write { stream.write($0) }
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer, since time: Instant) {
        // Data that nobody requested would be taken for the response to the next request.
        guard case .asking(let stream, let exchange) = phase else { return close() }
        var cursor = ByteCursor(bytes)
        do throws(ResponseReader.Problem) {
            guard let response = try reader.read(&cursor) else { return }
            let isWhole = cursor.remaining == 0 && output.count == 0
            finish(exchange, response, on: stream, reuse: isWhole ? response.reuse : nil)
        } catch {
            fail(exchange, HTTPFailure(error, of: exchange.route.peer))
        }
    }

    func streamEnded(_ end: StreamEnd) {
        guard case .asking(let stream, let exchange) = phase else { return close() }
        let route = exchange.route
        // With TLS 1.3, a server refuses a client's certificate only after the handshake, and then reads no request. Any other
        // TLS failure at this point is a lost connection: the request may have been read. So may it if anything was answered.
        if case .untrusted(let diagnosis) = end, diagnosis.isOfClientCertificate, requests == 1, !reader.hasBegun {
            return fail(exchange, HTTPFailure(diagnosis.failure(endpoint: route.endpoint)))
        }
        // A server that got the whole request may have carried it out, and only the user can decide to do that twice.
        if requests > 1, !reader.hasBegun, exchange.request.isIdempotent || output.count > 0 {
            pool?.again(exchange)
            return close()
        }
        if case .finished = end, let response = try? reader.end() {
            return finish(exchange, response, on: stream, reuse: nil)
        }
        let text = reader.hasBegun ? "in the middle of its answer" : "before it answered"
        fail(exchange, HTTPFailure(TransportError(.connectionLost, "\(route.peer) hung up \(text)\(end.explanation)")))
    }

    private func finish(_ exchange: HTTPExchange, _ response: HTTPResponse, on stream: ByteStream, reuse: Duration?) {
        // A server has nothing to do with a proxy's credentials, so this is the proxy's own response.
        if let proxy = exchange.route.forwardingProxy, response.status == 407 {
            return fail(exchange, HTTPFailure(proxy.refusal(407, to: "the request for \(exchange.route.endpoint)")))
        }
        if let reuse {
            phase = .idle(stream)
            // The last one keeps the response's body in memory.
            reader = ResponseReader(method: "GET")
            idleTimer.set(after: reuse) { [weak self] in self?.close() }
            pool?.freed()
        } else {
            close()
        }
        exchange.end(.success(response))
    }

    private func fail(_ exchange: HTTPExchange, _ failure: HTTPFailure) {
        close()
        exchange.end(.failure(failure))
    }
}

extension Route {
    /// The peer that answers requests, for messages.
    fileprivate var peer: String { forwardingProxy.map { "The proxy \($0)" } ?? endpoint }
}
#endif
