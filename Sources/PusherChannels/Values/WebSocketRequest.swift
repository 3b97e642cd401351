/// The request that opens a WebSocket.
public struct WebSocketRequest: Equatable, Sendable, CustomStringConvertible {
    /// Indicates whether to use TLS (`wss`).
    public var secure: Bool
    /// Host name or address, without brackets.
    public var host: String
    /// TCP port.
    public var port: Int
    /// Path and query, percent-encoded, beginning with `/`.
    public var path: String {
        get { secretPath.value }
        set { secretPath.value = newValue }
    }
    /// Header fields added to the upgrade request.
    public var headers: [String: String] {
        get { secretHeaders.value }
        set { secretHeaders.value = newValue }
    }
    /// The TLS settings of the connection, if ``secure``.
    public var tls: TLSConfiguration
    /// The way there.
    public var proxy: ProxyConfiguration
    /// The largest message to take, in bytes; a larger one ends the connection with close code 1009.
    public var maximumMessageSize: Int
    /// The largest number of redirects to follow, one after the other.
    public var maximumRedirects: Int
    private var secretPath: Secret<String>
    private var secretHeaders: Secret<[String: String]>

    /// Creates a request; custom sockets receive one, only tests make them.
    public init(
        secure: Bool, host: String, port: Int, path: String, headers: [String: String] = [:],
        tls: TLSConfiguration = TLSConfiguration(), proxy: ProxyConfiguration = .environment,
        maximumMessageSize: Int = 16 << 20, maximumRedirects: Int = 0
    ) {
        self.secure = secure
        self.host = host
        self.port = port
        secretPath = Secret(path)
        secretHeaders = Secret(headers)
        self.tls = tls
        self.proxy = proxy
        self.maximumMessageSize = maximumMessageSize
        self.maximumRedirects = maximumRedirects
    }

    /// The address without its query.
    public var description: String { url.addressWithoutSecrets }

    /// The request as a `ws` or `wss` address.
    public var url: String {
        "\(secure ? "wss" : "ws")://\(endpointName(host: host, port: port))\(path)"
    }
}

/// One try at being connected: a number that grows with every socket opened for a connection.
///
/// Whatever a socket reports carries the attempt it belongs to, so that a late report of an earlier socket can be told
/// from news about the current one.
public struct ConnectionAttempt: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The attempt's number, 1 for the first.
    public let number: Int

    /// Creates the attempt with a number; sockets are given theirs, only test doubles make them.
    public init(_ number: Int) {
        self.number = number
    }

    /// The attempt that follows this one.
    package var next: ConnectionAttempt { ConnectionAttempt(number + 1) }

    /// Returns whether the left attempt was made before the right one.
    public static func < (left: ConnectionAttempt, right: ConnectionAttempt) -> Bool {
        left.number < right.number
    }

    /// `#3`, as log lines show it.
    public var description: String { "#\(number)" }
}
