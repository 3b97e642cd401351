#if os(Linux)

/// The HTTP requests of a loop, and the connections kept for further ones. Confined to the loop's thread.
final class HTTPClient: LoopService {
    /// The key of a pool: sessions that share connections do so if the route is the same.
    private struct PoolKey: Hashable {
        let session: LoopKey
        let route: Route
    }

    private let loop: EventLoop
    private var exchanges: [LoopKey: HTTPExchange] = [:]
    private var pools: [PoolKey: ConnectionPool] = [:]

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// The number of requests under way.
    var count: Int { exchanges.count }

    /// Makes a request over the connections of a session; `completion` is called once.
    func start(
        _ request: HTTPRequest, key: LoopKey, over session: SharedConnections, tls: TLSConfiguration,
        proxy: ProxyConfiguration, completion: @escaping (HTTPExchange.Result) -> Void
    ) {
        if let failure = loop.failure { return completion(.failure(HTTPFailure(failure))) }
        let route: Route
        do throws(TransportError) {
            route = Route(
                host: request.host.lowercased(), port: request.port, hop: try request.hop(proxy),
                tls: request.secure ? tls : nil)
        } catch {
            return completion(.failure(HTTPFailure(error)))
        }
        let exchange = HTTPExchange(request, over: route, timer: loop.timers.makeTimer()) { [weak self] result in
            self?.exchanges[key] = nil
            completion(result)
        }
        exchanges[key] = exchange
        pool(PoolKey(session: session.key, route: route), resolve: session.resolve).enter(exchange)
    }

    func cancel(_ key: LoopKey) {
        guard let exchange = exchanges[key] else { return }
        exchange.pool?.withdraw(exchange, HTTPFailure(TransportError(.cancelled, "The request was cancelled")))
    }

    /// Closes the idle connections of a session that nobody can use any more.
    func closeConnections(of session: LoopKey) {
        for (key, pool) in pools where key.session == session { pool.closeIdle() }
    }

    func shutDown() {
        for pool in pools.values { pool.stop(HTTPFailure(TransportError(.cancelled, "The loop was shut down"))) }
    }

    private func pool(_ key: PoolKey, resolve: @escaping AddressResolver.Resolve) -> ConnectionPool {
        if let pool = pools[key] { return pool }
        let pool = ConnectionPool(loop: loop, resolve: resolve) { [weak self] in self?.pools[key] = nil }
        pools[key] = pool
        return pool
    }
}

extension HTTPRequest {
    /// Returns the hop to the server. A proxy makes a tunnel for TLS only, because many allow no tunnels to ports other than 443.
    fileprivate func hop(_ configuration: ProxyConfiguration) throws(TransportError) -> Route.Hop {
        let proxy = try configuration.proxy { (environment) throws(TransportError) in
            try environment.requestProxy(for: host, port: port, secure: secure)
        }
        guard let proxy else { return .direct }
        return secure ? .tunnel(proxy) : .forward(proxy)
    }
}
#endif
