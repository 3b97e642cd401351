/// A client of the Channels protocol.
///
/// ```swift
/// let pusher = Pusher(key: "app-key", options: PusherClientOptions(host: .cluster("eu")))
/// pusher.connect()
/// let news = pusher.subscribe("news")
/// news.bind(eventName: "headline") { event in print(event.data ?? "") }
/// ```
///
/// A subscription states what the application *wants*: it can be made before connecting, and it survives lost connections. All
/// members may be used from any thread.
///
/// The client disconnects, and logs that, when nothing refers to it or to one of its channels any more. Keep it in a property, or
/// `await` ``run()``: a local variable lives until the end of its scope only in a debug build; in an optimized build it lives
/// until its last use.
public final class Pusher: Sendable {
    /// The client's connection.
    public let connection: PusherConnection
    let loads: Loads

    /// Creates a client for the application with this key. It does nothing until ``connect()`` is called.
    public init(key: String, options: PusherClientOptions = .init(), environment: PusherEnvironment = .live) {
        connection = PusherConnection(key: key, options: options, environment: environment)
        loads = Loads(limit: options.concurrentLoads)
    }

    /// The delegate, held weakly. For a delegate on the main actor, set ``mainActorDelegate``.
    public var delegate: (any PusherDelegate)? {
        get { connection.delegate }
        set { connection.delegate = newValue }
    }

    /// The delegate that is called on the main actor, held weakly. A client has one delegate: this one or ``delegate``, whichever
    /// was set last.
    public var mainActorDelegate: (any MainActorPusherDelegate)? {
        get { connection.mainActorDelegate }
        set { connection.mainActorDelegate = newValue }
    }

    // MARK: Connecting

    /// Moves the client to another server, which takes the place of the first one. Channels, streams, the user and the delegate
    /// stay; a gap is reported, as after any reconnect. A client that isn't connected connects there from then on.
    ///
    /// - Parameters:
    ///   - host: The host or cluster.
    ///   - port: The port; nil for 443 with TLS and 80 without.
    ///   - useTLS: Indicates whether to use TLS.
    public func move(to host: PusherHost, port: Int? = nil, useTLS: Bool = true) {
        connection.core.move(to: PusherServer(host, port: port, useTLS: useTLS))
    }

    /// Connects, unless the client is connected or connecting.
    public func connect() {
        connection.connect()
    }

    /// Disconnects in any state. Subscriptions are kept: the next ``connect()`` makes them again.
    public func disconnect() {
        connection.disconnect()
    }

    // MARK: Channels

    /// Subscribes to a channel. The subscription is made as soon as there is a connection, and again after each reconnect.
    ///
    /// This is the convenience for closures and delegates; ``updates(of:auth:rewind:filter:buffering:)`` subscribes and reads in one step.
    ///
    /// The delegate and bindings to `pusher:subscription_succeeded` and `pusher:subscription_error` are notified of the outcome.
    /// A failed subscription is retried when this is called again, and on the next connection. `auth` is used once, in place of a
    /// request for an authorization. It is signed for one socket id, so later connections use ``PusherClientOptions/authMethod``.
    /// For a presence channel, the result is a ``PusherPresenceChannel``.
    ///
    /// Names are compared by their UTF-8 bytes, as in every server and every other client. If a server allows such letters,
    /// `private-é` written with one scalar and with two scalars names two channels.
    @preconcurrency
    @discardableResult
    public func subscribe(
        _ channelName: String,
        auth: PusherAuth? = nil,
        onMemberAdded: (@Sendable (PusherPresenceChannelMember) -> Void)? = nil,
        onMemberRemoved: (@Sendable (PusherPresenceChannelMember) -> Void)? = nil,
        onSubscriptionCountChanged: (@Sendable (Int) -> Void)? = nil
    ) -> PusherChannel {
        let callbacks = ChannelCallbacks(
            memberAdded: onMemberAdded, memberRemoved: onMemberRemoved, subscriptionCountChanged: onSubscriptionCountChanged)
        let name = Name(channelName)
        return connection.channel(name, connection.core.subscribe(name, auth: auth, callbacks: callbacks))
    }

    /// Subscribes to a presence channel and returns it as a ``PusherPresenceChannel``: a convenience that saves the cast. If the
    /// name doesn't begin with `presence-`, the channel never has members.
    @preconcurrency
    @discardableResult
    public func subscribeToPresenceChannel(
        channelName: String,
        auth: PusherAuth? = nil,
        onMemberAdded: (@Sendable (PusherPresenceChannelMember) -> Void)? = nil,
        onMemberRemoved: (@Sendable (PusherPresenceChannelMember) -> Void)? = nil,
        onSubscriptionCountChanged: (@Sendable (Int) -> Void)? = nil
    ) -> PusherPresenceChannel {
        let callbacks = ChannelCallbacks(
            memberAdded: onMemberAdded, memberRemoved: onMemberRemoved, subscriptionCountChanged: onSubscriptionCountChanged)
        let name = Name(channelName)
        let number = connection.core.subscribe(name, auth: auth, callbacks: callbacks)
        return connection.channel(name, number) as? PusherPresenceChannel ?? PusherPresenceChannel(name, number, connection)
    }

    /// Subscribes to a channel, as ``subscribe(_:auth:onMemberAdded:onMemberRemoved:onSubscriptionCountChanged:)`` does, and
    /// returns a stream of all its updates from then on. Even if the client is already connected, the stream misses neither the
    /// subscription nor the events that come with it.
    ///
    /// A refused channel is retried. A channel that is already subscribed stays subscribed, and its stream begins with
    /// ``ChannelUpdate/subscribed``, after the gap since an earlier stream of the channel, if there was one.
    ///
    /// With `rewind`, after the first ``ChannelUpdate/subscribed`` come past events, the oldest first; then an event
    /// `sockudo:rewind_complete`, whose data counts them; then what came meanwhile. If the connection is lost before that event, or
    /// ``ConnectionTimeouts/subscription`` passes, there is a gap. A `filter` is the channel's until it is unsubscribed, for all its
    /// listeners. For a channel that was asked for before, nothing is rewound, and its filter stays.
    ///
    /// The stream throws the server's refusal, and an error of the kind `invalidRequest` for either on protocol 7, for a number of
    /// events' names that no server accepts, and for a rewind of nothing.
    ///
    /// - Parameters:
    ///   - channelName: The channel's name, prefix included.
    ///   - auth: An authorization to use once, instead of requesting one.
    ///   - rewind: The past to begin with, on a Sockudo server (``PusherProtocol/sockudo``); nil for none.
    ///   - filter: The events that such a server is to send, past ones included; nil for all.
    ///   - buffering: The size of the stream's buffer, and its overflow policy.
    public func updates(
        of channelName: String, auth: PusherAuth? = nil, rewind: SubscriptionRewind? = nil, filter: SubscriptionFilter? = nil,
        buffering: StreamBuffering = StreamBuffering()
    ) -> PusherStream<ChannelUpdate> {
        let options = SubscriptionOptions(rewind: rewind, filter: filter)
        return PusherStream(source: connection.core.subscribe(Name(channelName), auth: auth, options, updates: buffering))
    }

    /// Subscribes to a channel, as ``updates(of:auth:rewind:filter:buffering:)`` does, and has the server replay what came after a
    /// position, such as that of the last event that an earlier process handled.
    ///
    /// After a replay come ``ChannelUpdate/recovered(count:)`` and ``ChannelUpdate/subscribed``. If nothing is replayed, the first
    /// update is ``ChannelUpdate/eventsMayBeMissing(_:)``, whatever the time that it names: on protocol 7, and if the server
    /// doesn't have the position any more. A channel that is subscribed already goes on where it is.
    ///
    /// - Parameters:
    ///   - channelName: The channel's name, prefix included.
    ///   - position: The ``PusherEvent/position`` of the last event that was handled, stored together with what it changed.
    ///   - filter: The events that the server is to send; nil for all.
    ///   - buffering: The size of the stream's buffer, and its overflow policy.
    public func updates(
        of channelName: String, after position: StreamPosition, filter: SubscriptionFilter? = nil,
        buffering: StreamBuffering = StreamBuffering()
    ) -> PusherStream<ChannelUpdate> {
        let options = SubscriptionOptions(filter: filter)
        return PusherStream(
            source: connection.core.subscribe(Name(channelName), auth: nil, after: position, options, updates: buffering))
    }

    /// The places up to which streams' readers took the events of their channels, by channel, to be stored for the next process, which
    /// gives them to ``PusherClientOptions/resumeFrom``; it may then repeat events, but loses none without a gap.
    ///
    /// An event counts once a loop over a stream has it, whether or not its effect is stored, and in a flood up to 16 events
    /// later: read this where everything taken has taken effect, or store each event's ``PusherEvent/position`` with its effect
    /// instead. What waits in a buffer doesn't count, nor does a gap that wasn't read. Of several streams of a channel, the one
    /// that is behind counts, and one that has ended counts until another begins.
    ///
    /// A channel is part of it from its first success on a Sockudo server (``PusherProtocol/sockudo``) until it is unsubscribed, also
    /// after the client's shutdown, if a stream has all of its events; one that only closures, the delegate or streams of one event's
    /// name hear isn't. Channels of ``PusherClientOptions/resumeFrom`` that were not asked for yet are. Any thread may read it.
    public var positions: [String: StreamPosition] {
        Dictionary(connection.core.positions.map { ($0.text, $1) }) { $1 }
    }

    /// Unsubscribes from a channel, whatever its state. Events that are still in transit are dropped.
    public func unsubscribe(_ channelName: String) {
        connection.core.unsubscribe(Name(channelName))
    }

    /// Unsubscribes from all channels.
    public func unsubscribeAll() {
        for channel in connection.core.channels { connection.core.unsubscribe(channel.name) }
    }

    // MARK: User

    /// The user that this client signs in as.
    public var user: PusherUser { PusherUser(connection: connection) }

    /// Signs the user in with ``PusherClientOptions/userAuthMethod``, and again on every later connection.
    ///
    /// If the authorization fails with a retryable error (``PusherError/isRetryable``), it is requested again, as for channels.
    /// Waiting callers get the first failure. The delegate gets it, too, then each failure with another reason than the one
    /// before, and ``PusherDelegate/signedIn(userID:)`` when a retry succeeds.
    ///
    /// Waits for a connection if there is none yet. If the task is cancelled, or its `ServiceGroup` shuts down, the wait ends,
    /// but not the sign-in.
    ///
    /// - Returns: The user's id.
    /// - Throws: A ``PusherError`` if the authorization or the server refuses, if either doesn't reply in time, or if the client
    ///   is disconnected (at once if the client gave up before the call); `CancellationError` if the task is cancelled, or runs
    ///   in a `ServiceGroup` that is shutting down.
    @discardableResult
    public func signIn() async throws -> String {
        try await user.signIn()
    }

    /// Signs the user in, as ``signIn()`` does, and calls the handler once, with the first outcome, on
    /// ``PusherClientOptions/delivery``.
    @preconcurrency
    public func signIn(completionHandler: @escaping @Sendable (Result<String, PusherError>) -> Void) {
        user.signIn(completionHandler: completionHandler)
    }

    // MARK: Events of all channels

    /// Calls the closure with the events of all channels. Returns an id to unbind it with.
    ///
    /// Every such event has a ``PusherEvent/channelName``. Of the protocol's own events, these are
    /// `pusher:subscription_succeeded`, `pusher:subscription_error` and `pusher:cache_miss`; use ``bindGlobal(eventCallback:)``
    /// for the others. The closure is called before those that are bound on the channel itself.
    @preconcurrency
    @discardableResult
    public func bind(eventCallback: @escaping @Sendable (PusherEvent) -> Void) -> String {
        connection.core.bind(.everywhere(channelEventsOnly: true), eventCallback)
    }

    /// Calls the closure with every event, on any channel or none. Returns an id to unbind it with.
    ///
    /// In addition to the events of ``bind(eventCallback:)``, it gets those about the connection
    /// (`pusher:connection_established`, `pusher:error`, …), which have no channel, and those about a channel's members and its
    /// subscription count.
    @preconcurrency
    @discardableResult
    public func bindGlobal(eventCallback: @escaping @Sendable (PusherEvent) -> Void) -> String {
        connection.core.bind(.everywhere(channelEventsOnly: false), eventCallback)
    }

    /// Removes the closure that ``bind(eventCallback:)`` or ``bindGlobal(eventCallback:)`` bound under this id.
    public func unbind(callbackId: String) {
        connection.core.unbind(.everywhere(channelEventsOnly: false), id: callbackId)
    }

    /// Removes all closures that were bound to the events of all channels.
    public func unbindAll() {
        connection.core.unbindAll(.everywhere(channelEventsOnly: false))
    }
}
