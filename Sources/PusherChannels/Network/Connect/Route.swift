#if os(Linux)

/// A stage of opening a connection, for those who measure them.
package enum ConnectStage: String, Sendable {
    case name, tcp, proxy, tls, upgrade
}

/// The route to a server: its name, the hop in between, and the TLS settings. Connections of one route are interchangeable.
struct Route: Hashable {
    /// The hop between this machine and the server.
    enum Hop: Hashable {
        case direct
        /// A proxy that makes a tunnel.
        case tunnel(HTTPProxy)
        /// A proxy that forwards requests: there is no connection to the server itself.
        case forward(HTTPProxy)
    }

    let host: String
    let port: Int
    let hop: Hop
    /// The TLS settings; `nil` for no TLS.
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

    // The endpoint to connect to: its name, its port, and its text for messages.
    var firstHost: String { proxy?.host ?? host }
    var firstPort: Int { proxy?.port ?? port }
    var firstEndpoint: String { proxy.map { "Proxy \($0)" } ?? endpoint }

    /// The name of the route's queue: two routes to one host don't hold each other up.
    var name: String { proxy.map { "\(endpoint) \($0)" } ?? endpoint }
}
#endif
