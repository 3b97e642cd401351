#if canImport(CLibwebsockets)

/// The way to a server: its name, what stands in between, and how what is said is secured.
struct Route {
    /// What stands in between.
    enum Way: Hashable {
        /// Nothing.
        case direct
        /// A proxy that is asked for a tunnel.
        case tunnel(HTTPProxy)
        /// A proxy that makes the requests itself: what it is told is all there is.
        case relay(HTTPProxy)
    }

    let host: String
    let port: Int
    let way: Way
    /// Nil for no TLS.
    let tls: TLSContext?

    init(host: String, port: Int, way: Way, tls: TLSContext?) {
        self.host = host
        self.port = port
        self.way = way
        self.tls = tls
    }

    /// A way through a tunnel if there is a proxy.
    init(host: String, port: Int, proxy: HTTPProxy?, tls: TLSContext?) {
        self.init(host: host, port: port, way: proxy.map { .tunnel($0) } ?? .direct, tls: tls)
    }

    private var proxy: HTTPProxy? {
        switch way {
        case .direct: nil
        case .tunnel(let proxy), .relay(let proxy): proxy
        }
    }

    /// The server, for messages.
    var endpoint: String { endpointName(host: host, port: port) }

    /// Whom to connect to.
    var nearHost: String { proxy?.host ?? host }
    var nearPort: Int { proxy?.port ?? port }

    /// Whom to connect to, for messages.
    var nearEnd: String { proxy.map { "Proxy \($0)" } ?? endpoint }

    /// Names it for the queue: two ways to one host don't hold each other up.
    var name: String { proxy.map { "\(endpoint) \($0)" } ?? endpoint }
}
#endif
