import Foundation
import Logging

/// The settings of a client: how it connects, is authorized and calls back.
public struct PusherClientOptions: Sendable {
    /// The method of authorizing subscriptions to private and presence channels.
    public var authMethod: AuthMethod
    /// The method of signing in this client's user.
    public var userAuthMethod: UserAuthMethod
    /// Indicates whether to reconnect after a lost connection; if not, the state becomes `disconnected`. After close codes
    /// 4100–4399, with which a server asks its clients to come back, the client always reconnects, until there is a connection
    /// again.
    public var autoReconnect: Bool
    /// The server.
    public var host: PusherHost
    /// The protocol; `.sockudo` for servers that replay what a client missed.
    public var `protocol`: PusherProtocol
    /// The places after which channels go on, by channel: the ``Pusher/positions`` that an earlier process stored. Each is used when its
    /// channel is first asked for, as by ``Pusher/updates(of:after:filter:buffering:)``; a ``PusherPool`` uses none.
    public var resumeFrom: [String: StreamPosition]
    /// The server's port; by default 443 with ``useTLS`` and 80 without. With a port outside 1 to 65535 the client gives up and
    /// reports the error.
    public var port: Int {
        get { port(secure: useTLS) }
        set { chosenPort = newValue }
    }
    /// A path prefix in front of the protocol's own path, for servers behind a proxy; nil for none.
    public var path: String?
    /// Indicates whether to use TLS.
    public var useTLS: Bool
    /// The servers to try, in turn, when an attempt has failed: of another region, for example, that has the same app. The first
    /// reconnect after ten minutes begins with the first server again; a connection that works is never dropped for that. With
    /// each server comes a gap, as after any reconnect.
    public var fallbackHosts: [PusherServer]
    /// The TLS settings of connections. They also apply to requests to authorization endpoints if
    /// ``PusherEnvironment/httpSession`` is a ``RoutedHTTPSession``, as it is by default on Linux; any other session keeps its
    /// own settings.
    public var tls: TLSConfiguration
    /// The proxy settings of connections. They also apply to requests to authorization endpoints if
    /// ``PusherEnvironment/httpSession`` is a ``RoutedHTTPSession``, as it is by default on Linux; any other session keeps its
    /// own settings.
    public var proxy: ProxyConfiguration
    /// Header fields added to the WebSocket upgrade, such as `Origin`, or fields that a gateway requires. Fields of the handshake
    /// and of proxies are left out; a proxy's user and password belong to ``proxy``.
    public var headers: [String: String] {
        get { secretHeaders.value }
        set { secretHeaders.value = newValue }
    }
    /// The maximum size of a message from the server, in bytes. A larger message ends the connection with close code 1009. With
    /// zero or less, every message does.
    public var maximumMessageSize: Int
    /// The maximum number of consecutive redirects of the WebSocket upgrade to follow; zero or less for none. Redirects from TLS
    /// to plain text are never followed. To another host or port, ``headers`` and the client's certificate aren't sent, and the
    /// server's certificate is verified even if this client accepts any.
    public var maximumRedirects: Int
    /// Indicates whether a client with ``useTLS`` off may switch to TLS when the server requires it (close code 4000). The port
    /// stays as set.
    public var upgradesToTLS: Bool
    /// The number of seconds of silence after which the client pings the server; the server may ask for less. Nil for 120; at
    /// least a tenth of a second, at most a day. The client also pings when it has sent nothing for three quarters of that time,
    /// because some servers count only what clients send.
    public var activityTimeout: TimeInterval?
    /// The longest time for which the client sends nothing, whatever longer time the server allows; at least a tenth of a second.
    /// Proxies and load balancers end connections that are silent for longer than theirs, which is 60 s by default for nginx
    /// (`proxy_read_timeout`), each time with a possible gap.
    public var keepAlive: Duration
    /// The time that each step may take.
    public var timeouts: ConnectionTimeouts
    /// The policy for retrying a lost connection.
    public var reconnectPolicy: ReconnectPolicy
    /// The limits that are checked before anything is sent; ``ProtocolLimits/unchecked`` leaves the checks to a self-hosted
    /// server.
    public var limits: ProtocolLimits
    /// The maximum number of concurrent requests for channel authorizations; at least one. Further requests wait, in the order of
    /// the subscriptions.
    public var concurrentAuthorizations: Int
    /// The maximum number of states of followed channels that are loaded at a time, for a client or for all of a ``PusherPool``; at
    /// least one.
    public var concurrentLoads: Int
    /// The maximum number of calls that may wait on the queue of ``delivery``; at least one. Past it, reading from the connection
    /// pauses until half of them are delivered. After ``pauseLimit``, events are dropped (``PusherConnection/droppedEvents``),
    /// and their channels report that some may be missing. If other news, such as that of members, fills as much room again,
    /// reading pauses once more, and then that is dropped, too.
    public var deliveryLimit: Int
    /// The maximum size in bytes of the messages that wait on that queue. Past it, the same happens as past ``deliveryLimit``.
    public var deliveryByteLimit: Int
    /// The maximum time for which reading from the connection pauses while streams or the delivery queue are full, or too much is
    /// waiting to be decrypted. Servers wait for a pong for half a minute or more: stay below that. Negative values count as
    /// zero.
    public var pauseLimit: Duration
    /// The queue on which closures and the delegate are called; by default each client has its own serial queue, never the main
    /// queue.
    ///
    /// Each busy queue uses a thread. In a program with hundreds of clients, give each a serial queue that targets `.global()`,
    /// and they share a few threads. Closures that block for long then hold up those of other clients, and tasks too.
    public var delivery: DeliveryPolicy
    /// The logger for the connection, its channels and its user. Each line has a constant message, and metadata for what varies
    /// (the page "Connections in production" lists them). Lines never contain a secret.
    public var logger: Logger
    private var secretHeaders: Secret<[String: String]>
    /// Nil for the default, which `upgradesToTLS` changes.
    var chosenPort: Int?

    /// Creates options. The defaults suit most clients; the default `port` depends on `useTLS`.
    public init(
        authMethod: AuthMethod = .noMethod,
        userAuthMethod: UserAuthMethod = .noMethod,
        autoReconnect: Bool = true,
        host: PusherHost = .defaultHost,
        port: Int? = nil,
        path: String? = nil,
        protocol: PusherProtocol = .pusher,
        resumeFrom: [String: StreamPosition] = [:],
        useTLS: Bool = true,
        fallbackHosts: [PusherServer] = [],
        tls: TLSConfiguration = TLSConfiguration(),
        proxy: ProxyConfiguration = .environment,
        headers: [String: String] = [:],
        maximumMessageSize: Int = 16 << 20,
        maximumRedirects: Int = 0,
        upgradesToTLS: Bool = false,
        activityTimeout: TimeInterval? = nil,
        keepAlive: Duration = .seconds(30),
        timeouts: ConnectionTimeouts = ConnectionTimeouts(),
        reconnectPolicy: ReconnectPolicy = ReconnectPolicy(),
        limits: ProtocolLimits = .hosted,
        concurrentAuthorizations: Int = 16,
        concurrentLoads: Int = 8,
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
        self.protocol = `protocol`
        self.resumeFrom = resumeFrom
        self.useTLS = useTLS
        self.fallbackHosts = fallbackHosts
        self.tls = tls
        self.proxy = proxy
        secretHeaders = Secret(headers)
        self.maximumMessageSize = maximumMessageSize
        self.maximumRedirects = maximumRedirects
        self.upgradesToTLS = upgradesToTLS
        self.activityTimeout = activityTimeout
        self.keepAlive = keepAlive
        self.timeouts = timeouts
        self.reconnectPolicy = reconnectPolicy
        self.limits = limits
        self.concurrentAuthorizations = concurrentAuthorizations
        self.concurrentLoads = concurrentLoads
        self.deliveryLimit = deliveryLimit
        self.deliveryByteLimit = deliveryByteLimit
        self.pauseLimit = pauseLimit
        self.delivery = delivery
        self.logger = logger
    }

    /// Returns the request that opens a connection, without the protocol's path.
    func webSocketRequest(to server: PusherServer, secure: Bool) -> WebSocketRequest {
        WebSocketRequest(
            secure: secure, host: server.host.stringValue, port: server.port ?? (secure ? 443 : 80), path: "/", headers: headers,
            tls: tls, proxy: proxy, maximumMessageSize: maximumMessageSize, maximumRedirects: maximumRedirects)
    }

    /// The servers to try, the first one first.
    var servers: [PusherServer] { [PusherServer(host, port: chosenPort, useTLS: useTLS)] + fallbackHosts }

    private func port(secure: Bool) -> Int { chosenPort ?? (secure ? 443 : 80) }

    var machineConfiguration: ConnectionMachine.Configuration {
        var configuration = ConnectionMachine.Configuration()
        configuration.secure = useTLS
        configuration.fallbacksSecure = fallbackHosts.map(\.useTLS)
        configuration.protocol = `protocol`
        configuration.positions = Dictionary(resumeFrom.map { (Name($0), $1) }) { $1 }
        configuration.upgradesToTLS = upgradesToTLS
        configuration.autoReconnect = autoReconnect
        configuration.limits = limits
        configuration.concurrentAuthorizations = concurrentAuthorizations
        configuration.reconnectPolicy = reconnectPolicy
        configuration.pauseLimit = pauseLimit.asWait
        configuration.timeouts = timeouts.asWaits
        configuration.keepAlive = max(keepAlive, .milliseconds(100))
        if let activityTimeout, activityTimeout > 0 {
            configuration.activityTimeout = max(Duration(unlimited: activityTimeout), .milliseconds(100))
        }
        return configuration
    }
}
