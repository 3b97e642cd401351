/// The request that opens a WebSocket.
public struct WebSocketRequest: Equatable, Sendable, CustomStringConvertible {
    /// Indicates whether to use TLS (`wss`).
    public var secure: Bool
    /// The host name or address, without brackets.
    public var host: String
    /// The TCP port.
    public var port: Int
    /// The path and query, percent-encoded, beginning with `/`.
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
    /// The proxy settings of the connection.
    public var proxy: ProxyConfiguration
    /// The maximum size of a message, in bytes; a larger one ends the connection with close code 1009.
    public var maximumMessageSize: Int
    /// The maximum number of consecutive redirects to follow.
    public var maximumRedirects: Int
    private var secretPath: Secret<String>
    private var secretHeaders: Secret<[String: String]>

    /// Creates a request. Only tests need this: custom sockets receive a request.
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

/// An attempt to connect: a number that grows with every socket opened for a connection.
///
/// Everything a socket reports carries its attempt, which distinguishes a late report of an earlier socket from one of the
/// current socket.
public struct ConnectionAttempt: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The attempt's number, 1 for the first.
    public let number: Int

    /// Creates an attempt with this number. Only test doubles need this: sockets receive their attempt.
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
