/// The HTTP proxy that connections go through, if any.
///
/// The proxy is asked for a tunnel to the destination (`CONNECT`; RFC 9110, 9.3.6), except for requests without TLS, which it
/// makes itself (RFC 9112, 3.2.2).
public enum ProxyConfiguration: Hashable, Sendable {
    /// The proxy that the process's environment variables name: `https_proxy`, then `all_proxy`, in lower or upper case. For
    /// `ws`, `http_proxy` comes between the two, in lower case only; for `http`, only `http_proxy` and `all_proxy` count.
    /// `no_proxy` lists hosts to reach directly; loopback is always reached directly.
    case environment
    /// No proxy: a direct connection.
    case none
    /// This proxy.
    case http(HTTPProxy)
}

/// An HTTP proxy. When printed or dumped, it shows no password.
public struct HTTPProxy: Hashable, Sendable, CustomStringConvertible {
    /// A user and a password for a proxy ("Basic"; RFC 7617).
    public struct Credentials: Hashable, Sendable, CustomStringConvertible {
        /// The user's name, without a colon.
        public var user: String
        /// The password.
        public var password: String {
            get { secretPassword.value }
            set { secretPassword.value = newValue }
        }

        private var secretPassword: Secret<String>

        /// Creates credentials.
        public init(user: String, password: String) {
            self.user = user
            secretPassword = Secret(password)
        }

        /// The user's name.
        public var description: String { user }
    }

    /// The host name or address, without brackets.
    public var host: String
    /// The TCP port.
    public var port: Int
    /// The credentials for the proxy; nil for none.
    public var credentials: Credentials?

    /// Creates a proxy.
    public init(host: String, port: Int, credentials: Credentials? = nil) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// `host:port`.
    public var description: String { endpointName(host: host, port: port) }
}
