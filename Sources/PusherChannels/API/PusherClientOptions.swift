import Foundation
import Logging

/// The settings of a client: how it connects, is authorized and calls back.
public struct PusherClientOptions: Sendable {
    /// The way in which subscriptions to private and presence channels are authorized.
    public var authMethod: AuthMethod
    /// The way in which this client's user is signed in.
    public var userAuthMethod: UserAuthMethod
    /// Indicates whether a lost connection is made again; without, the state becomes `disconnected`. Close codes 4100–4399, with which
    /// a server asks its clients to come back, are followed in any case, until there is a connection again.
    public var autoReconnect: Bool
    /// The server.
    public var host: PusherHost
    /// The server's port; unless it is set, 443 with ``useTLS`` and 80 without. With one outside 1 to 65535 the client gives up, and says
    /// so.
    public var port: Int {
        get { port(secure: useTLS) }
        set { chosenPort = newValue }
    }
    /// A path in front of the protocol's own, for servers behind a proxy; nil for none.
    public var path: String?
    /// Indicates whether to use TLS.
    public var useTLS: Bool
    /// The TLS settings of connections, and of requests to authorization endpoints where ``PusherEnvironment/httpSession`` is a
    /// ``RoutedHTTPSession``, as the default is on Linux; any other session keeps its own.
    public var tls: TLSConfiguration
    /// The way to the server, and to authorization endpoints where ``PusherEnvironment/httpSession`` is a ``RoutedHTTPSession``, as the
    /// default is on Linux; any other session goes its own way.
    public var proxy: ProxyConfiguration
    /// Header fields added to the WebSocket upgrade, such as `Origin`, or what a gateway asks for.
    public var headers: [String: String] {
        get { secretHeaders.value }
        set { secretHeaders.value = newValue }
    }
    /// The largest message to take from the server, in bytes; a larger one ends the connection with close code 1009. With zero or less
    /// that is every message.
    public var maximumMessageSize: Int
    /// The largest number of redirects of the WebSocket upgrade that are followed, one after the other; zero or less for none. They
    /// never lead from TLS to plain text, and
    /// ``headers`` aren't sent to another host.
    public var maximumRedirects: Int
    /// Indicates whether a client with ``useTLS`` off may switch to TLS when the server takes nothing else (close code 4000). The port
    /// stays as set.
    public var upgradesToTLS: Bool
    /// Seconds of silence after which the client asks the server for a sign of life; the server may ask for less. Nil for 120, a tenth
    /// of a second at least, a day at most. The client asks, too, when it has sent nothing for three quarters of that time: some
    /// servers count only what clients send. Stay below the time after which something in between ends silent connections: with nginx that
    /// is 60 s by default (`proxy_read_timeout`).
    public var activityTimeout: TimeInterval?
    /// The time that each step may take.
    public var timeouts: ConnectionTimeouts
    /// When a lost connection is tried again.
    public var reconnectPolicy: ReconnectPolicy
    /// The limits that are checked before a server is asked; ``ProtocolLimits/unchecked`` leaves that to a self-hosted server.
    public var limits: ProtocolLimits
    /// The largest number of authorizations of channels that are asked for at a time; more wait for their turn, in the order of the
    /// subscriptions. One at least.
    public var concurrentAuthorizations: Int
    /// The largest number of calls that may wait on the queue that ``delivery`` names; one at least. When there is more, nothing is
    /// read from the connection until half of it was delivered; after ``pauseLimit``, events are dropped
    /// (``PusherConnection/droppedEvents``) and their channels are said to have missed some.
    public var deliveryLimit: Int
    /// The largest number of bytes of the messages that wait there; past them the same happens as past ``deliveryLimit``.
    public var deliveryByteLimit: Int
    /// The longest time for which nothing is read from the connection while streams or the delivery queue are full, or too much waits to be
    /// decrypted. Servers wait for a pong for half a minute or more: stay below that. Negative values count as zero.
    public var pauseLimit: Duration
    /// The queue of closures and delegate; by default a serial queue that each client has to itself, never the main queue.
    ///
    /// Each such queue that is busy has a thread. A program with hundreds of clients gives each a serial queue that targets
    /// `.global()`, so that they share a few; closures that block for long then hold up those of others, and tasks too.
    public var delivery: DeliveryPolicy
    /// Gets a line for what happens to the connection, its channels and its user: a constant message, and metadata for what varies
    /// (the page "Connections in production" lists them). No secret is ever in one.
    public var logger: Logger
    private var secretHeaders: Secret<[String: String]>
    private var chosenPort: Int?

    /// Creates options; what is left out is what most clients want, and no `port` is the one that goes with `useTLS`.
    public init(
        authMethod: AuthMethod = .noMethod,
        userAuthMethod: UserAuthMethod = .noMethod,
        autoReconnect: Bool = true,
        host: PusherHost = .defaultHost,
        port: Int? = nil,
        path: String? = nil,
        useTLS: Bool = true,
        tls: TLSConfiguration = TLSConfiguration(),
        proxy: ProxyConfiguration = .environment,
        headers: [String: String] = [:],
        maximumMessageSize: Int = 16 << 20,
        maximumRedirects: Int = 0,
        upgradesToTLS: Bool = false,
        activityTimeout: TimeInterval? = nil,
        timeouts: ConnectionTimeouts = ConnectionTimeouts(),
        reconnectPolicy: ReconnectPolicy = ReconnectPolicy(),
        limits: ProtocolLimits = .hosted,
        concurrentAuthorizations: Int = 16,
        deliveryLimit: Int = 10_000,
        deliveryByteLimit: Int = 16 << 20,
        pauseLimit: Duration = .seconds(20),
        delivery: DeliveryPolicy = .privateQueue,
        logger: Logger = Logger(label: "pusher-channels")
    ) {
        self.authMethod = authMethod
        self.userAuthMethod = userAuthMethod
        self.autoReconnect = autoReconnect
        self.host = host
        chosenPort = port
        self.path = path
        self.useTLS = useTLS
        self.tls = tls
        self.proxy = proxy
        secretHeaders = Secret(headers)
        self.maximumMessageSize = maximumMessageSize
        self.maximumRedirects = maximumRedirects
        self.upgradesToTLS = upgradesToTLS
        self.activityTimeout = activityTimeout
        self.timeouts = timeouts
        self.reconnectPolicy = reconnectPolicy
        self.limits = limits
        self.concurrentAuthorizations = concurrentAuthorizations
        self.deliveryLimit = deliveryLimit
        self.deliveryByteLimit = deliveryByteLimit
        self.pauseLimit = pauseLimit
        self.delivery = delivery
        self.logger = logger
    }

    /// The request that opens a connection; the protocol adds its path.
    func webSocketRequest(secure: Bool) -> WebSocketRequest {
        WebSocketRequest(
            secure: secure, host: host.stringValue, port: port(secure: secure), path: "/", headers: headers, tls: tls,
            proxy: proxy, maximumMessageSize: maximumMessageSize, maximumRedirects: maximumRedirects)
    }

    private func port(secure: Bool) -> Int { chosenPort ?? (secure ? 443 : 80) }

    var machineConfiguration: ConnectionMachine.Configuration {
        var configuration = ConnectionMachine.Configuration()
        configuration.secure = useTLS
        configuration.upgradesToTLS = upgradesToTLS
        configuration.autoReconnect = autoReconnect
        configuration.limits = limits
        configuration.concurrentAuthorizations = concurrentAuthorizations
        configuration.reconnectPolicy = reconnectPolicy
        configuration.pauseLimit = pauseLimit.asWait
        configuration.timeouts = timeouts.asWaits
        if let activityTimeout, activityTimeout > 0 {
            configuration.activityTimeout = max(Duration(unlimited: activityTimeout), .milliseconds(100))
        }
        return configuration
    }
}
