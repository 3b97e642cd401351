#if canImport(CLibwebsockets)

/// A connection that carries one request after the other.
final class HTTPConnection: ByteStreamOwner {
    private enum Phase {
        case idle((any ByteStream)?)
        case opening(Connector, HTTPExchange)
        case asking(any ByteStream, HTTPExchange)
        case closed
    }

    private let key: ConnectionPoolKey
    private weak var lane: ConnectionPool?
    private let service: EventLoop
    private let resolve: AddressResolver.Resolve
    private let idleTimer: LoopTimer
    private var phase = Phase.idle(nil)
    private var reader = ResponseReader(method: "GET")
    /// What of the request waits for room.
    private var output = OutputBuffer()
    private var requests = 0

    init(
        _ key: ConnectionPoolKey, lane: ConnectionPool, service: EventLoop, resolve: @escaping AddressResolver.Resolve
    ) {
        self.key = key
        self.lane = lane
        self.service = service
        self.resolve = resolve
        idleTimer = service.timers.makeTimer()
    }

    /// The request that it is for at the moment.
    var exchange: HTTPExchange? {
        switch phase {
        case .opening(_, let exchange), .asking(_, let exchange): exchange
        case .idle, .closed: nil
        }
    }

    /// What is late, to be put in front of how late.
    var overdue: String {
        switch phase {
        case .asking where reader.hasBegun: "\(peer) didn't finish its answer"
        case .asking: "\(peer) didn't answer the request"
        case .opening, .idle, .closed: "\(endpoint) was not reached"
        }
    }

    // MARK: Commands

    /// Makes a request, if there is none under way.
    func take(_ exchange: HTTPExchange) {
        idleTimer.cancel()
        if case .idle(let stream?) = phase {
            ask(exchange, on: stream)
        } else {
            open(for: exchange)
        }
    }

    /// Closes without a word to anybody.
    func close() {
        let phase = phase
        self.phase = .closed
        idleTimer.cancel()
        switch phase {
        case .opening(let opening, _): opening.cancel()
        case .idle(let stream): stream?.cut()
        case .asking(let stream, _): stream.cut()
        case .closed: break
        }
    }

    // MARK: Opening

    private func open(for exchange: HTTPExchange) {
        let route: Route
        do throws(WebSocketFailure) {
            // At each connection: the files may hold other certificates by now.
            let tls: TLSContext?
            if let configuration = key.tls { tls = try service.certificates.context(for: configuration) } else { tls = nil }
            route = Route(host: key.host, port: key.port, way: key.way, tls: tls)
        } catch {
            return fail(exchange, HTTPFailure(error))
        }
        let opening = Connector(route, service: service)
        phase = .opening(opening, exchange)
        opening.start(resolve: resolve) { [weak self] result in self?.opened(result, for: exchange) }
    }

    private func opened(_ result: Result<any ByteStream, WebSocketFailure>, for exchange: HTTPExchange) {
        switch result {
        case .success(let stream):
            stream.owner = self
            ask(exchange, on: stream)
        case .failure(let failure):
            fail(exchange, HTTPFailure(failure))
        }
    }

    // MARK: Asking

    private func ask(_ exchange: HTTPExchange, on stream: any ByteStream) {
        phase = .asking(stream, exchange)
        requests += 1
        reader = ResponseReader(method: exchange.request.method)
        output.bytes += exchange.request.bytes(relayedBy: relay)
        streamWritable()
    }

    func streamConnected() {}

    func streamSecured() {}

    func streamWritable() {
        guard case .asking(let stream, _) = phase else { return }
        output.write { stream.write($0) }
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        guard case .asking(let stream, let exchange) = phase else {
            // Nobody asked: what it says would be taken for the answer to the next request.
            close()
            lane?.lost(self)
            return
        }
        var cursor = ByteCursor(bytes)
        do throws(ResponseReader.Problem) {
            guard let response = try reader.read(&cursor) else { return }
            let isWhole = cursor.remaining == 0 && output.count == 0
            answered(exchange, response, on: stream, reuse: isWhole ? response.reuse : nil)
        } catch {
            fail(exchange, HTTPFailure(error, of: peer))
        }
    }

    func streamEnded(_ end: StreamEnd) {
        guard case .asking(_, let exchange) = phase else {
            close()
            lane?.lost(self)
            return
        }
        if case .untrusted(let trouble) = end {
            // With TLS 1.3 a server refuses a client's certificate only after the handshake.
            return fail(exchange, HTTPFailure(trouble.failure(endpoint: endpoint)))
        }
        if requests > 1, !reader.hasBegun {
            close()
            lane?.lost(self, repeating: exchange)
            return
        }
        if case .finished = end, let response = try? reader.end() {
            return answered(exchange, response, on: nil, reuse: nil)
        }
        let text = reader.hasBegun ? "in the middle of its answer" : "before it answered"
        let reason = end.reason.map { ": \($0)" } ?? ""
        fail(exchange, HTTPFailure(WebSocketFailure(.connectionLost, "\(peer) hung up \(text)\(reason)")))
    }

    private func answered(
        _ exchange: HTTPExchange, _ response: HTTPResponse, on stream: (any ByteStream)?, reuse: Duration?
    ) {
        // A server has nothing to do with a proxy's credentials: this is the proxy's own answer.
        if let relay, response.status == 407 {
            return fail(exchange, HTTPFailure(relay.refusal(407, to: "the request for \(endpoint)")))
        }
        if let stream, let reuse {
            phase = .idle(stream)
            idleTimer.set(after: reuse) { [weak self] in self?.grownOld() }
            lane?.freed()
        } else {
            close()
            lane?.lost(self)
        }
        exchange.end(.success(response))
    }

    private func grownOld() {
        close()
        lane?.lost(self)
    }

    // MARK: Failing

    private func fail(_ exchange: HTTPExchange, _ failure: HTTPFailure) {
        close()
        lane?.lost(self)
        exchange.end(.failure(failure))
    }

    // MARK: Names

    private var relay: HTTPProxy? {
        if case .relay(let proxy) = key.way { proxy } else { nil }
    }

    /// The server, for messages.
    private var endpoint: String { endpointName(host: key.host, port: key.port) }

    /// Who answers, for messages.
    private var peer: String { relay.map { "The proxy \($0)" } ?? endpoint }
}
#endif
