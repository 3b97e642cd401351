import Logging

/// The connection of a client: its state, and the parts that a test or an application may replace.
///
/// All members may be used from any thread. It disconnects when the last reference to it is gone.
public final class PusherConnection: WebSocketDelegate, Sendable {
    /// The application's key.
    public let key: String

    /// The options the client was made with.
    public let options: PusherClientOptions

    let environment: PusherEnvironment
    let core: ClientCore

    init(key: String, options: PusherClientOptions, environment: PusherEnvironment) {
        self.key = key
        self.options = options
        self.environment = environment
        var environment = environment
        environment.httpSession = environment.httpSession(for: options)
        var logger = environment.clientLogger?(options.logger) ?? options.logger
        for field in [LogField(.key, key), LogField(.host, options.host.withoutSecrets)] {
            logger[metadataKey: field.key.rawValue] = .string(field.value)
        }
        core = ClientCore(
            machine: ConnectionMachine(configuration: options.machineConfiguration, seed: environment.randomSeed()),
            target: ConnectionTarget(
                key: key, pathPrefix: options.path, protocol: options.protocol, servers: options.servers,
                request: options.webSocketRequest),
            peers: Peers(
                authorizer: ChannelAuthorizer(method: options.authMethod, key: key, environment: environment),
                userAuthorizer: UserAuthorizer(method: options.userAuthMethod, key: key, environment: environment)),
            deliveryQueue: options.delivery.makeQueue(),
            backlog: DeliveryBacklog(limit: options.deliveryLimit, byteLimit: options.deliveryByteLimit),
            environment: environment, logger: logger)
        environment.onClient?(self)
    }

    deinit {
        core.handle(.clientReleased)
        core.finishStreams(forGood: true)
    }

    // MARK: State

    /// The state of the connection.
    public var connectionState: ConnectionState { core.read(\.state) }

    /// The time until the next reconnect attempt; nil if none is scheduled.
    public var timeToNextAttempt: Duration? {
        core.read(\.nextAttempt).map { max($0 - environment.scheduler.now, .zero) }
    }

    /// The number of events, and of other news such as that of members, that were not delivered to closures and the delegate
    /// because the delivery queue was full for longer than ``PusherClientOptions/pauseLimit``.
    public var droppedEvents: Int { core.readState(\.backlog.dropped) }

    /// The server's id for this connection, new with each connection; nil while not connected.
    public var socketID: String? { core.read(\.socketID?.text) }

    /// The channels that were subscribed to.
    public var channels: ChannelList { ChannelList(connection: self) }

    /// The delegate, held weakly. For a delegate on the main actor, set ``mainActorDelegate``.
    public var delegate: (any PusherDelegate)? {
        get { core.delegate.flatMap { $0 is MainActorDelegate ? nil : $0 } }
        set { core.delegate = newValue }
    }

    /// The delegate that is called on the main actor, held weakly. A client has one delegate: this one or ``delegate``, whichever
    /// was set last.
    public var mainActorDelegate: (any MainActorPusherDelegate)? {
        get { core.mainActorDelegate }
        set { core.mainActorDelegate = newValue }
    }

    // MARK: Parts

    /// The socket. A newly assigned socket serves every attempt from the next one on, until it is replaced; the socket it
    /// replaces is closed.
    public var socket: any WebSocket {
        get { core.socket }
        set {
            newValue.delegate = self
            guard let replaced = core.replaceSocket(newValue), replaced !== newValue else { return }
            replaced.close(code: 1000, reason: "")
        }
    }

    /// The session for requests to the authorization endpoint: the environment's session, with ``PusherClientOptions/tls`` and
    /// ``PusherClientOptions/proxy`` if it is a ``RoutedHTTPSession``. A session that is assigned here is used as it is.
    public var session: any HTTPSession {
        get { core.readState(\.outbox.session) }
        set { core.replace(\.outbox.session, with: newValue) }
    }

    /// The ``session``, in PusherSwift's spelling.
    public var URLSession: any HTTPSession {
        get { session }
        set { session = newValue }
    }

    /// The closure that describes this client on presence channels when signatures are made locally
    /// (``AuthMethod/inline(secret:encryptionMasterKey:)``); without it, the socket id is the user id.
    ///
    /// It is called, like the code in an ``AuthMethod``, on the thread that needs the result; don't block that thread.
    public var userDataFetcher: (@Sendable () -> PusherPresenceChannelMember)? {
        get { core.readState(\.outbox.channelUser) }
        set { core.replace(\.outbox.channelUser, with: newValue) }
    }

    // MARK: Connecting

    /// Connects, unless the client is connected or connecting. A scheduled reconnect attempt is made at once.
    public func connect() {
        core.handle(.connect)
    }

    /// Disconnects in any state, and abandons an attempt in progress. Subscriptions are kept.
    public func disconnect() {
        core.handle(.disconnect)
    }

    /// Tells the client that the network may have changed or come back: a scheduled reconnect attempt is made at once, and an
    /// open connection is pinged.
    public func networkChanged() {
        core.handle(.networkChanged)
    }

    /// The policy for retrying a lost connection; a change takes effect at the next loss.
    public var reconnectPolicy: ReconnectPolicy {
        get { core.read(\.session.backoff.policy) }
        set { core.handle(.reconnectPolicy(newValue)) }
    }

    /// The maximum number of consecutive retries (``ReconnectPolicy/maximumRetries``); nil for no limit, zero or less for no
    /// retries. PusherSwift's name for it.
    public var reconnectAttemptsMax: Int? {
        get { reconnectPolicy.maximumRetries }
        set { reconnectPolicy.maximumRetries = newValue }
    }

    /// The maximum pause between two attempts, in seconds; nil, like anything longer, means a day. PusherSwift's name for a part
    /// of ``reconnectPolicy``.
    public var maxReconnectGapInSeconds: Double? {
        get { reconnectPolicy.maximumDelay / .seconds(1) }
        set { reconnectPolicy.maximumDelay = Duration(unlimited: newValue) }
    }

    // MARK: Channels

    /// Returns the object of a channel, of the type that matches its name.
    func channel(_ name: Name, _ number: Int) -> PusherChannel {
        let isPresence = ChannelName(name).kind == .presence
        let new = isPresence ? PusherPresenceChannel(name, number, self) : PusherChannel(name, number, self)
        return core.object(for: name, number: number, new)
    }

    // MARK: WebSocketDelegate

    /// Called by the socket; not for applications.
    public func webSocketDidOpen(attempt: ConnectionAttempt) {
        core.webSocketDidOpen(attempt: attempt)
    }

    /// Called by the socket; not for applications.
    public func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        core.webSocketDidReceive(messages, attempt: attempt)
    }

    /// Called by the socket; not for applications.
    public func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        core.webSocketDidClose(closure, attempt: attempt)
    }
}

extension PusherEnvironment {
    /// Returns the session for a client: the environment's session, with the client's TLS and proxy settings unless they are the
    /// defaults.
    fileprivate func httpSession(for options: PusherClientOptions) -> any HTTPSession {
        let defaults = PusherClientOptions()
        guard options.tls != defaults.tls || options.proxy != defaults.proxy, let session = httpSession as? any RoutedHTTPSession
        else { return httpSession }
        return session.routed(tls: options.tls, proxy: options.proxy)
    }
}
