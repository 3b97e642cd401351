#if canImport(CLibwebsockets)
import Foundation

/// The HTTP requests of a loop, and the connections kept for more of them. Confined to the loop's thread.
final class HTTPClient {
    private var exchanges: [ConnectionKey: HTTPExchange] = [:]
    private var lanes: [ConnectionPoolKey: ConnectionPool] = [:]

    /// How many requests are under way.
    var count: Int { exchanges.count }

    /// Makes a request over a connection of a pool; `completion` is called once.
    func start(
        _ request: HTTPRequest, key: ConnectionKey, over pool: SharedConnections, tls: TLSConfiguration,
        proxy: ProxyConfiguration,
        service: EventLoop, completion: @escaping (HTTPExchange.Answer) -> Void
    ) {
        if let failure = service.failure { return completion(.failure(HTTPFailure(failure))) }
        let laneKey: ConnectionPoolKey
        do throws(WebSocketFailure) {
            laneKey = ConnectionPoolKey(
                pool: pool.key, host: request.host.lowercased(), port: request.port, way: try request.way(proxy),
                tls: request.secure ? tls : nil)
        } catch {
            return completion(.failure(HTTPFailure(error)))
        }
        let exchange = HTTPExchange(request, timer: service.timers.makeTimer()) { [weak self] answer in
            self?.exchanges[key] = nil
            completion(answer)
        }
        exchanges[key] = exchange
        lane(laneKey, service: service, resolve: pool.resolve).enter(exchange)
    }

    func cancel(_ key: ConnectionKey) {
        guard let exchange = exchanges[key] else { return }
        exchange.lane?.withdraw(exchange, HTTPFailure(WebSocketFailure(.cancelled, "The request was cancelled")))
    }

    /// Closes the connections of a pool that nobody can use any more.
    func letGo(_ pool: ConnectionKey) {
        for (key, lane) in lanes where key.pool == pool { lane.closeIdle() }
    }

    /// Ends all that is left.
    func stop() {
        for lane in lanes.values { lane.stop(HTTPFailure(WebSocketFailure(.cancelled, "The loop was shut down"))) }
    }

    private func lane(
        _ key: ConnectionPoolKey, service: EventLoop, resolve: @escaping AddressResolver.Resolve
    ) -> ConnectionPool {
        if let lane = lanes[key] { return lane }
        let lane = ConnectionPool(key, service: service, resolve: resolve) { [weak self] in self?.lanes[key] = nil }
        lanes[key] = lane
        return lane
    }
}

extension HTTPRequest {
    /// What stands between: a proxy makes a tunnel for TLS only, because many let nobody through to other ports than 443.
    fileprivate func way(_ configuration: ProxyConfiguration) throws(WebSocketFailure) -> Route.Way {
        let proxy = try configuration.proxy { (environment) throws(WebSocketFailure) in
            try environment.requestProxy(for: host, port: port, secure: secure)
        }
        guard let proxy else { return .direct }
        return secure ? .tunnel(proxy) : .relay(proxy)
    }
}
#endif
