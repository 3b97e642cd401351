#if canImport(CLibwebsockets)

/// The way to a server: its name, what stands in between, and how what is said is secured.
struct Route {
    let host: String
    let port: Int
    /// Nil for the direct way.
    let proxy: HTTPProxy?
    /// Nil for no TLS.
    let tls: TLSContext?

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
