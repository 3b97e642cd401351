/// A pool of connections for many channels: a set of clients that share a key, options, a delegate and a stream.
///
/// ```swift
/// let pool = PusherPool(key: "app-key", channelsPerConnection: 100, options: PusherClientOptions(host: .cluster("eu")))
/// let updates = pool.updates  // first: what comes earlier is not in it
/// pool.subscribe(markets.map { "prices-\($0)" })
/// async let connections: Void = pool.run()
/// for try await change in updates {
///     if case .event(let event) = change.update { handle(event, of: change.channelName) }
/// }
/// try await connections
/// ```
///
/// A hash of a channel's name decides which connection it is on, which gives connections about the same number of channels each.
/// Connections are added when the others are full; that moves no channel. A lost connection affects only its own channels, and so
/// does a slow reader: the server waits on one connection, and the others go on. All members may be used from any thread.
public final class PusherPool: Sendable {
    /// The part of the channels that this process follows.
    public let shard: Shard

    let key: String
    let options: PusherClientOptions
    let environment: PusherEnvironment
    let rate: ConnectRate
    let loads: Loads
    let state: Locked<PoolState>

    /// Creates a pool. It does nothing until ``connect()`` or ``run()`` is called.
    ///
    /// - Parameters:
    ///   - key: The application's key.
    ///   - connections: The minimum number of connections; at least one.
    ///   - channelsPerConnection: The maximum number of channels per connection; at least one. Hosted applications may have 100.
    ///   - attemptsPerSecond: The approximate number of connections that are made per second when all have to be made: at the
    ///     start, and after a server went away. A value that isn't a finite number above zero counts as the default.
    ///   - shard: The part of the channels that this process follows; others are ignored.
    ///   - options: The options of each connection. ``PusherClientOptions/concurrentAuthorizations``,
    ///     ``PusherClientOptions/deliveryLimit`` and all other limits apply to each connection separately.
    ///   - environment: Everything that the SDK takes from outside.
    public init(
        key: String, connections: Int = 1, channelsPerConnection: Int = 100, attemptsPerSecond: Double = 20,
        shard: Shard = .whole,
        options: PusherClientOptions = .init(), environment: PusherEnvironment = .live
    ) {
        self.key = key
        // Each client would use them, and a channel may have several in turn.
        var options = options
        options.resumeFrom = [:]
        self.options = options
        self.environment = environment
        self.shard = shard
        rate = ConnectRate(attemptsPerSecond: attemptsPerSecond)
        loads = Loads(limit: options.concurrentLoads)
        state = Locked(PoolState(placement: PoolPlacement(connections: connections, limit: channelsPerConnection)))
        change { $0.steps.append(.haveConnections($0.placement.loads.count)) }
    }

    deinit {
        cancelScheduled()
    }

    // MARK: State

    /// The connections, for inspection only: the pool connects and disconnects them.
    public var connections: [PusherConnection] { clients.map(\.connection) }

    /// The health of all connections together.
    public var health: PusherHealth {
        clients.reduce(into: PusherHealth()) { $0.add($1.health) }
    }

    var clients: [Pusher] { state.withLock(\.clients) }

    /// The channels that were subscribed to, ordered by name.
    public var channels: [PusherChannel] {
        connections.flatMap(\.channels.all).sorted { $0.channel < $1.channel }
    }

    /// Returns the channel with this name, to bind closures, trigger client events or read its own stream; nil if it wasn't
    /// subscribed to.
    ///
    /// It is also nil while its subscription waits for another thread's call, such as ``resize(to:)``: later requests are queued
    /// behind that call, and their callers don't wait.
    ///
    /// The channel is a handle of its connection. When ``resize(to:)`` moves the channel, the handle becomes idle and its streams
    /// end; ``updates`` goes on.
    ///
    /// - Parameter name: The channel's name, prefix included.
    public func channel(named name: String) -> PusherChannel? {
        let client = state.withLock { state in
            state.placement.place(of: Name(name)).flatMap { state.client($0) }
        }
        return client?.connection.channels.find(name: name)
    }

    /// The delegate of all connections, held weakly. It is called on ``PusherClientOptions/delivery``: by default each connection
    /// has its own queue, so the delegate may be called for several at once. For a delegate on the main actor, set
    /// ``mainActorDelegate``.
    public var delegate: (any PusherDelegate)? {
        get { state.withLock(\.delegate) }
        set {
            change { state in
                (state.delegate, state.mainActorDelegate) = (newValue, nil)
                state.steps.append(.setDelegate)
            }
        }
    }

    /// The delegate of all connections that is called on the main actor, held weakly. A pool has one delegate: this one or
    /// ``delegate``, whichever was set last.
    public var mainActorDelegate: (any MainActorPusherDelegate)? {
        get { state.withLock(\.mainActorDelegate) }
        set {
            change { state in
                (state.delegate, state.mainActorDelegate) = (nil, newValue)
                state.steps.append(.setDelegate)
            }
        }
    }

    /// All updates of the channels: events, gaps, members who join and leave, and refused subscriptions. Each channel's updates
    /// are in order.
    ///
    /// The stream never drops anything. If a thousand elements or 4 MiB of a connection are unread, the server waits on that
    /// connection; after ``PusherClientOptions/pauseLimit`` the stream throws `readerTooSlow`. It also throws the error with
    /// which a connection gave up permanently, and ends with ``run()`` and with ``shutdown(within:)``.
    public var updates: PusherStream<PoolUpdate> {
        let reading = PoolReading()
        change { $0.steps.append(.follow(reading)) }
        return PusherStream(source: reading)
    }

    // MARK: Channels

    /// Subscribes to a channel, if it belongs to this process.
    ///
    /// - Parameter channelName: The channel's name, prefix included.
    public func subscribe(_ channelName: String) {
        subscribe(CollectionOfOne(channelName))
    }

    /// Subscribes to those of the channels that belong to this process. Prefer one call to several: then the channels are spread
    /// over as many connections as they need.
    ///
    /// - Parameter channelNames: The channels' names, prefix included.
    public func subscribe(_ channelNames: some Sequence<String>) {
        let names = channelNames.filter(shard.has).map { Name($0) }
        change { state in
            _ = state.placement.add(names)
            state.steps.append(.haveConnections(state.placement.loads.count))
            // This includes existing subscriptions: a refused one is retried.
            for name in names {
                if let connection = state.placement.place(of: name) { state.steps.append(.subscribe(name, connection)) }
            }
        }
    }

    /// Unsubscribes from a channel.
    ///
    /// - Parameter channelName: The channel's name, prefix included.
    public func unsubscribe(_ channelName: String) {
        change { state in
            let channel = Name(channelName)
            if let connection = state.placement.remove(channel) { state.steps.append(.unsubscribe(channel, connection)) }
        }
    }

    /// Changes the number of connections, to no fewer than the channels need.
    ///
    /// Adding the *n*-th connection moves about one in *n* channels, each from its own connection to the new one; removing a
    /// connection moves its own channels. A channel that moves is subscribed again, and a gap is reported, as after a reconnect.
    ///
    /// - Parameter connections: The minimum number of connections.
    public func resize(to connections: Int) {
        change { state in
            let before = state.placement.loads.count
            let moves = state.placement.resize(to: connections)
            let count = state.placement.loads.count
            if count > before { state.steps.append(.haveConnections(count)) }
            state.steps.append(contentsOf: moves.map { .move($0) })
            if count < before { state.steps.append(.haveConnections(count)) }
        }
    }
}
