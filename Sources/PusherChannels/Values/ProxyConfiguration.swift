/// The HTTP proxy that connections go through, if any.
///
/// It is asked for a tunnel (`CONNECT`; RFC 9110, 9.3.6) to what is to be reached, but for requests without TLS, which it makes
/// itself (RFC 9112, 3.2.2).
public enum ProxyConfiguration: Hashable, Sendable {
    /// The proxy that the variables of the process's environment name: `https_proxy`, then `all_proxy`, in lower or upper case; for `ws`
    /// also `http_proxy` between them, in lower case only; for `http` that one and `all_proxy`. `no_proxy` lists hosts to reach
    /// directly; loopback always is.
    case environment
    /// Directly.
    case none
    /// Through this proxy.
    case http(HTTPProxy)
}

/// An HTTP proxy. Printed or dumped it shows no password.
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

    /// Host name or address, without brackets.
    public var host: String
    /// TCP port.
    public var port: Int
    /// The credentials for the proxy; nil for nothing.
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
