/// Many channels over several connections: a set of clients that share a key, options, a delegate and a stream.
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
/// A hash of its name decides which connection a channel is on, so that connections have about as many channels each. Connections are added
/// where the others are full; that moves no channel. A connection that is lost concerns its own channels, and so does a reader who is slow:
/// the server waits on one connection, and the others go on. All members may be used from any thread.
public final class PusherPool: Sendable {
    /// The part of the channels that this process follows.
    public let shard: Shard

    let key: String
    let options: PusherClientOptions
    let environment: PusherEnvironment
    let rate: ConnectRate
    let state: Locked<PoolState>

    /// Creates a pool. Nothing happens before ``connect()`` or ``run()``.
    ///
    /// - Parameters:
    ///   - key: The application's key.
    ///   - connections: The number of connections that there are at least; one at least.
    ///   - channelsPerConnection: The largest number of channels that a connection may have; one at least. Hosted applications may have
    ///     100.
    ///   - attemptsPerSecond: The approximate number of connections that are made in a second, when all are to be made: at the start, and
    ///     when a server went away. A value that isn't above zero, or no number, counts as the default.
    ///   - shard: The part of the channels that this process follows; the others are passed over.
    ///   - options: The options of each connection. ``PusherClientOptions/concurrentAuthorizations``, ``PusherClientOptions/deliveryLimit``
    ///     and all other limits are each connection's own.
    ///   - environment: Everything that is taken from the world.
    public init(
        key: String, connections: Int = 1, channelsPerConnection: Int = 100, attemptsPerSecond: Double = 20,
        shard: Shard = .whole,
        options: PusherClientOptions = .init(), environment: PusherEnvironment = .live
    ) {
        self.key = key
        self.options = options
        self.environment = environment
        self.shard = shard
        rate = ConnectRate(attemptsPerSecond: attemptsPerSecond)
        state = Locked(PoolState(placement: PoolPlacement(connections: connections, limit: channelsPerConnection)))
        change { $0.steps.append(.haveConnections($0.placement.loads.count)) }
    }

    // MARK: State

    /// The connections, to be looked at: what connects and disconnects them is the pool.
    public var connections: [PusherConnection] { clients.map(\.connection) }

    var clients: [Pusher] { state.withLock(\.clients) }

    /// The channels that were subscribed to, ordered by name.
    public var channels: [PusherChannel] {
        connections.flatMap(\.channels.all).sorted { $0.channel < $1.channel }
    }

    /// Returns the channel of this name, to bind closures, trigger client events or read a stream of it alone; nil if it wasn't subscribed
    /// to.
    ///
    /// It is also nil as long as another thread's call is being carried out, such as ``resize(to:)``: what is asked for meanwhile comes
    /// after it, and the caller doesn't wait.
    ///
    /// It is a handle of the connection that the channel is on. When ``resize(to:)`` moves the channel, the handle is idle and its streams
    /// end; ``updates`` goes on.
    ///
    /// - Parameter name: The channel's name, prefix included.
    public func channel(named name: String) -> PusherChannel? {
        let client = state.withLock { state in
            state.placement.place(of: Name(name)).flatMap { state.client($0) }
        }
        return client?.connection.channels.find(name: name)
    }

    /// Hears what happens on all connections; held weakly. It is called where ``PusherClientOptions/delivery`` says: by default for each
    /// connection on a queue of its own, so that it may be called for several at once. One that lives on the main actor is set as
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

    /// Hears what happens on all connections, on the main actor; held weakly. A pool has one delegate: this one or ``delegate``, whichever
    /// was set last.
    public var mainActorDelegate: (any MainActorPusherDelegate)? {
        get { state.withLock(\.mainActorDelegate) }
        set {
            change { state in
                (state.delegate, state.mainActorDelegate) = (nil, newValue)
                state.steps.append(.setDelegate)
            }
        }
    }

    /// All that happens to the channels: events, gaps, members who come and go, refusals. Each channel's updates are in order.
    ///
    /// It never drops anything: for each connection that holds a thousand elements or 4 MiB that nobody reads, the server waits, and after
    /// ``PusherClientOptions/pauseLimit`` the stream throws `readerTooSlow`. It also throws the reason why a connection was given up for
    /// good, and ends with ``run()`` and with ``shutdown(within:)``.
    public var updates: PusherStream<PoolUpdate> {
        let reading = PoolReading()
        change { $0.steps.append(.follow(reading)) }
        return PusherStream(source: reading)
    }

    // MARK: Channels

    /// Asks for a channel, if it is this process's.
    ///
    /// - Parameter channelName: The channel's name, prefix included.
    public func subscribe(_ channelName: String) {
        subscribe(CollectionOfOne(channelName))
    }

    /// Asks for those of the channels that are this process's. Better all at once than one by one: so they are spread over as many
    /// connections as they need.
    ///
    /// - Parameter channelNames: The channels' names, prefix included.
    public func subscribe(_ channelNames: some Sequence<String>) {
        let names = channelNames.filter(shard.has).map { Name($0) }
        change { state in
            _ = state.placement.add(names)
            state.steps.append(.haveConnections(state.placement.loads.count))
            // Those that are there already, too: one that was refused is asked for again.
            for name in names {
                if let connection = state.placement.place(of: name) { state.steps.append(.subscribe(name, connection)) }
            }
        }
    }

    /// Gives up a channel.
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
    /// Adding the *n*-th moves about one in *n* channels, each from its connection to the new one; taking one away moves its own. A channel
    /// that moves is subscribed anew, and a gap is told of, as after a reconnect.
    ///
    /// - Parameter connections: The number of connections that there are at least.
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
