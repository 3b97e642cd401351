#if os(Linux)

/// The way to a server: its name, what stands in between, and how what is said is secured. Connections of one route can stand in for
/// each other.
struct Route: Hashable {
    /// The thing that stands between this machine and the server.
    enum Hop: Hashable {
        case direct
        /// A proxy that is asked for a tunnel.
        case tunnel(HTTPProxy)
        /// A proxy that forwards requests: what it is told is all there is.
        case forward(HTTPProxy)
    }

    let host: String
    let port: Int
    let hop: Hop
    /// Nil for no TLS.
    let tls: TLSConfiguration?

    /// The proxy that forwards requests, if there is one.
    var forwardingProxy: HTTPProxy? {
        if case .forward(let proxy) = hop { proxy } else { nil }
    }

    private var proxy: HTTPProxy? {
        switch hop {
        case .direct: nil
        case .tunnel(let proxy), .forward(let proxy): proxy
        }
    }

    /// The server, for messages.
    var endpoint: String { endpointName(host: host, port: port) }

    // Whom to connect to, by name, by port, and for messages.
    var firstHost: String { proxy?.host ?? host }
    var firstPort: Int { proxy?.port ?? port }
    var firstEndpoint: String { proxy.map { "Proxy \($0)" } ?? endpoint }

    /// Names it for the queue: two ways to one host don't hold each other up.
    var name: String { proxy.map { "\(endpoint) \($0)" } ?? endpoint }
}
#endif
