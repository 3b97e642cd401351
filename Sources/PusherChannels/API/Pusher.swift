/// A client of the Channels protocol.
///
/// ```swift
/// let pusher = Pusher(key: "app-key", options: PusherClientOptions(host: .cluster("eu")))
/// pusher.connect()
/// let news = pusher.subscribe("news")
/// news.bind(eventName: "headline") { event in print(event.data ?? "") }
/// ```
///
/// Subscriptions are what the application *wants*: they can be made before connecting and outlive every lost
/// connection. All members may be used from any thread.
///
/// The client disconnects when nothing refers to it or to one of its channels any more, and logs that. Keep it in a property, or
/// `await` ``run()``: a local variable lives to the end of its scope in a debug build only, to its last use in an optimized one.
public final class Pusher: Sendable {
    /// The client's connection.
    public let connection: PusherConnection

    /// Creates a client for the application with this key. Nothing happens before ``connect()``.
    public init(key: String, options: PusherClientOptions = .init(), environment: PusherEnvironment = .live) {
        connection = PusherConnection(key: key, options: options, environment: environment)
    }

    /// Hears what happens; held weakly. One that lives on the main actor is set as ``mainActorDelegate``.
    public var delegate: (any PusherDelegate)? {
        get { connection.delegate }
        set { connection.delegate = newValue }
    }

    /// Hears what happens, on the main actor; held weakly. A client has one delegate: this one or ``delegate``, whichever was set last.
    public var mainActorDelegate: (any MainActorPusherDelegate)? {
        get { connection.mainActorDelegate }
        set { connection.mainActorDelegate = newValue }
    }

    // MARK: Connecting

    /// Connects, if it isn't connected or about to be.
    public func connect() {
        connection.connect()
    }

    /// Disconnects, whatever the state. Subscriptions remain wanted: the next ``connect()`` makes them again.
    public func disconnect() {
        connection.disconnect()
    }

    // MARK: Channels

    /// Asks for a channel; the subscription is made as soon as there is a connection, and again after each reconnect.
    ///
    /// The delegate hears whether it succeeds, and so do bindings to `pusher:subscription_succeeded` and
    /// `pusher:subscription_error`. A channel that failed is tried again by calling this again, and on the next connection.
    /// `auth` is used once, instead of asking for an authorization; as it is signed for one socket id, later connections ask
    /// as ``PusherClientOptions/authMethod`` says. The result for a presence channel is a ``PusherPresenceChannel``.
    ///
    /// Names are compared by their UTF-8 bytes, as every server and every other client does it: where a server allows such letters,
    /// `private-é` written with one scalar and with two is two channels.
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

    /// Subscribes to a presence channel and returns it as one; a name that doesn't begin with `presence-` gives a channel
    /// that never has members.
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

    /// Asks for a channel, as ``subscribe(_:auth:onMemberAdded:onMemberRemoved:onSubscriptionCountChanged:)`` does, and returns a stream of
    /// all that happens to it from then on: of a client that is connected, too, it misses neither the subscription nor what comes with it.
    ///
    /// A channel that was refused is asked for again. One that is subscribed already stays so, and its stream begins with
    /// ``ChannelUpdate/subscribed``.
    ///
    /// - Parameters:
    ///   - channelName: The channel's name, prefix included.
    ///   - auth: An authorization to use once, instead of asking for one.
    ///   - buffering: The number of elements that may wait, and the treatment of more.
    public func updates(
        of channelName: String, auth: PusherAuth? = nil, buffering: StreamBuffering = StreamBuffering()
    ) -> PusherStream<ChannelUpdate> {
        PusherStream(source: connection.core.subscribe(Name(channelName), auth: auth, updates: buffering))
    }

    /// Gives up a channel, in whatever state it is. Events that are still under way are dropped.
    public func unsubscribe(_ channelName: String) {
        connection.core.unsubscribe(Name(channelName))
    }

    /// Gives up all channels.
    public func unsubscribeAll() {
        for channel in connection.core.channels { connection.core.unsubscribe(channel.name) }
    }

    // MARK: User

    /// The user that this client signs in as.
    public var user: PusherUser { PusherUser(connection: connection) }

    /// Signs the user in as ``PusherClientOptions/userAuthMethod`` says, and again on every later connection.
    ///
    /// An authorization that fails for a reason that may be over (``PusherError/isRetryable``) is asked for again, as those of channels
    /// are: callers that wait are told of the first failure, the delegate of each, and ``PusherDelegate/signedIn(userID:)`` of the success after
    /// it.
    ///
    /// Waits for a connection if there is none yet. Gives the user's id. Throws a ``PusherError`` when the authorization or the
    /// server refuses, when the time for their answers is over, or when the client is disconnected, at once where it was given up
    /// before; `CancellationError` when the task is cancelled, or runs in a `ServiceGroup` that is asked to end, which ends the wait, not
    /// the sign-in.
    @discardableResult
    public func signIn() async throws -> String {
        try await user.signIn()
    }

    /// Signs the user in, as ``signIn()`` does, and calls back once, with the first outcome, where ``PusherClientOptions/delivery`` says.
    @preconcurrency
    public func signIn(completionHandler: @escaping @Sendable (Result<String, PusherError>) -> Void) {
        user.signIn(completionHandler: completionHandler)
    }

    // MARK: Events of all channels

    /// Calls the closure with the events of all channels; gives an id to take it back with.
    ///
    /// Every such event has a ``PusherEvent/channelName``. Those of the protocol are `pusher:subscription_succeeded`,
    /// `pusher:subscription_error` and `pusher:cache_miss`; ``bindGlobal(eventCallback:)`` is for the others, too. It is called before
    /// the closures that are bound on the channel itself.
    @preconcurrency
    @discardableResult
    public func bind(eventCallback: @escaping @Sendable (PusherEvent) -> Void) -> String {
        connection.core.bind(.everywhere(channelEventsOnly: true), eventCallback)
    }

    /// Calls the closure with every event, of whatever channel or of none; gives an id to take it back with.
    ///
    /// Beside what ``bind(eventCallback:)`` hears that is what the server says of the connection (`pusher:connection_established`,
    /// `pusher:error`, …), which has no channel, and what becomes of a channel's members and its subscription count.
    @preconcurrency
    @discardableResult
    public func bindGlobal(eventCallback: @escaping @Sendable (PusherEvent) -> Void) -> String {
        connection.core.bind(.everywhere(channelEventsOnly: false), eventCallback)
    }

    /// Takes back what ``bind(eventCallback:)`` or ``bindGlobal(eventCallback:)`` bound under this id.
    public func unbind(callbackId: String) {
        connection.core.unbind(.everywhere(channelEventsOnly: false), id: callbackId)
    }

    /// Takes back all that was bound to the events of all channels.
    public func unbindAll() {
        connection.core.unbindAll(.everywhere(channelEventsOnly: false))
    }
}
