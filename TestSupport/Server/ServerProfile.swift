import PusherChannels

/// The details in which Channels servers differ.
///
/// Start with a named profile, such as ``reverb``, and change the times and limits that the test is about. What its messages look
/// like is as recorded.
public struct ServerProfile: Equatable, Sendable {
    /// The server's version, and when it was recorded or where the profile is from.
    public var about = "from the documentation"
    /// The server's own answers; on other occasions it answers as the hosted service does.
    package var answers: [Occasion: Answer] = [:]

    // MARK: Connections

    /// The activity time-out that `connection_established` tells clients, in seconds (`activity_timeout`).
    public var activityTimeout = 120
    /// Indicates whether clients of versions before 7 are told it, too.
    package var tellsActivityTimeoutToAll = false
    /// The time a connection may be silent before the server sends `pusher:ping`; `nil` means it never does. One of Sockudo's protocol
    /// V2 has its own, ``SockudoV2/pingInterval``.
    public var idleTimeout: Duration?
    /// The time that the server waits for a message after its ping, before it closes the connection with 4201.
    public var pongTimeout: Duration = .seconds(30)
    /// The limit after which a silent client is closed.
    package var silenceLimit: SilenceLimit? = SilenceLimit(.seconds(24 * 60 * 60), code: 4202)
    /// The protocol versions that are served; others are refused with 4007.
    package var protocolVersions: ClosedRange<Int> = 5...7
    /// Sockudo's protocol V2; `nil` if the server doesn't have it.
    public var sockudoV2: SockudoV2?
    /// The largest number of connections; more are refused with 4100.
    public var maximumConnections: Int?
    /// The largest number of messages that may wait for a client that doesn't read. With more, or with more
    /// than 64 MiB, the client is closed with 4100.
    /// `nil` means that there is no limit.
    public var maximumWaitingMessages: Int? = 10_000
    /// The messages that clients get when the server is stopped.
    package var shutdown = Shutdown(code: 1001, reason: "Server stopped", isAnnounced: false)

    // MARK: Messages

    /// The data that a successful subscription carries on channels without members.
    package var successData = SuccessData.object
    /// Indicates whether the `data` of `pusher:error` is text that holds JSON, not an object.
    package var sendsErrorDataAsText = false
    /// Indicates whether a `pusher:error` about a channel names it.
    package var namesChannelInErrors = false
    /// The message that tells a client that its subscription was refused.
    package var channelRefusal = ChannelRefusal.subscriptionError
    /// The data that `pusher:pong` carries.
    package var pongData = PongData.object
    /// The data that `pusher:cache_miss` carries, as JSON; `nil` for nothing.
    package var cacheMissData: String?
    /// Indicates whether the list of a presence channel's members includes their ids in order, besides their data.
    package var listsMemberIDs = true
    /// Indicates whether an empty list of members is sent as `[]`, not `{}`.
    package var sendsEmptyHashAsArray = false
    /// What stands for the `user_info` of a member who has none.
    package var missingInfo = MissingInfo(told: .absent, listed: .null)
    /// Indicates whether `member_added` is sent before the success of the one who joins.
    package var tellsMembersFirst = false
    /// Indicates whether `member_removed` is sent to the one who leaves, too.
    package var tellsLeavers = false
    /// Indicates whether `member_removed` carries the `user_info`.
    package var describesLeavers = false
    /// Indicates whether a member's id that is a number stays one.
    package var keepsNumericIDs = false
    /// The changes that a presence channel's members are told of if a user has several connections.
    package var memberChanges = MemberChanges.ofUsers

    // MARK: Abilities

    /// Indicates whether users can sign in.
    public var supportsSignIn = true
    /// The way in which watchlists are served; `nil` if they aren't.
    package var watchlist: Watchlist? = .watchlistEvents
    /// The kinds of cache channels that exist.
    package var cacheChannels = CacheChannels.all
    /// The time for which cache channels keep an event.
    public var cacheLifetime: Duration = .seconds(30 * 60)
    /// The form in which a client event's data reaches the others.
    package var clientEventData = ClientEventData.text
    /// Indicates whether client events on presence channels name their sender.
    package var namesSenders = true
    /// Indicates whether cache channels keep client events.
    package var cachesClientEvents = false
    /// Indicates whether an event for a user reaches all of the user's connections, subscribed or not.
    package var reachesUsersDirectly = false
    /// Indicates whether the success of a sign-in repeats its signature.
    package var repeatsSignInAuth = false
    /// The treatment of members who join without a `user_info`.
    package var membersWithoutInfo = MembersWithoutInfo.join
    /// The signatures that the HTTP API accepts.
    package var publishers = Publishers.ofKeyAndSecret
    /// The attributes that the HTTP API gives when it is asked about channels.
    package var attributes: Attributes = [.userCount, .subscriptionCount, .cache]
    /// The attributes that the HTTP API gives in a list of channels; `nil` if they are the same.
    package var listedAttributes: Attributes?
    /// The attributes that the HTTP API gives when an event is published.
    package var publishedAttributes: Attributes = [.userCount, .subscriptionCount, .cache]
    /// The attributes that the HTTP API always gives, and with them whether a channel is occupied.
    package var attributesUnasked: Attributes = []
    /// Indicates whether the HTTP API lists a channel's connections, by their socket ids, as its users.
    package var listsSocketIDs = false
    /// Indicates whether the HTTP API gives no number of subscriptions of presence channels.
    package var hidesPresentSubscriptions = false
    /// Indicates whether the HTTP API counts a user once for each connection.
    package var countsConnectionsAsUsers = false
    /// Indicates whether the HTTP API lists channels that were published to, though nobody has ever been on them.
    package var keepsEmptyChannels = false
    /// The form of a cache channel's event in the HTTP API.
    package var cacheDescription = CacheDescription.dataAndLifetime
    /// Indicates whether a publish that asks for attributes is given an `acknowledgement_id`, too.
    package var acknowledgesEvents = false
    /// Indicates whether data that isn't text, if accepted, is delivered as it is, not as text.
    package var sendsPublishedValues = false
    /// Indicates whether published text that isn't JSON is delivered as a JSON string within the text.
    package var encodesPlainText = false
    /// Indicates whether the HTTP API accepts batches of events; if not, it responds with 404.
    public var servesBatches = true
    /// Indicates whether a batch's events before one that is refused are published; if not, none is.
    package var publishesBatchesInPart = false

    /// The time for which the HTTP API knows a publish again by its `idempotency_key`; `nil` if it ignores keys. A key whose publish
    /// failed counts as one under way for two minutes.
    public var publishKeyLifetime: Duration?

    /// Indicates whether apps' backends receive webhooks.
    public var sendsWebhooks = true
    /// Indicates whether a webhook carries a client event's data as it was sent, not as text.
    package var webhooksCarryValues = false
    /// Indicates whether `time_ms` of webhooks is in seconds, not milliseconds.
    package var webhookTimesAreInSeconds = false
    /// The time for which webhooks hold back departures. Anybody who comes back within that time doesn't count as having left.
    public var webhookDepartureDelay: Duration = .seconds(3)
    /// The time for which a webhook waits for more events.
    public var webhookWindow: Duration = .milliseconds(250)

    // MARK: Limits

    /// The largest number of client events that a connection may send per second; more are refused with 4301.
    public var maximumClientEventsPerSecond = 10
    /// The largest number of characters a channel's name may have.
    public var maximumChannelNameLength = 164
    /// The largest number of characters an event's name may have.
    public var maximumEventNameLength = 200
    /// The largest number of bytes of data that an event may carry; the HTTP API responds with 413 to more.
    public var maximumEventDataLength = 10_240
    /// The largest number of bytes of data that a client event may carry.
    public var maximumClientEventDataLength = 10_240
    /// The largest number of channels one trigger may name.
    public var maximumChannelsPerTrigger = 100
    /// The largest number of events one batch may hold.
    public var maximumBatchLength = 10
    /// The number of events at which a webhook no longer waits for more.
    public var maximumWebhookLength = 20
    /// The largest number of members a presence channel may have.
    public var maximumPresenceMembers = 100
    /// The largest number of characters a member's id may have.
    public var maximumUserIDLength = 128
    /// The largest number of bytes that a member's `user_info` may have as JSON.
    public var maximumUserInfoLength = 1024
    /// The largest number of ids in a watchlist that count. With more, the client gets error 4302.
    public var maximumWatchlistLength = 100

    init() {}

    var channelLimits: ProtocolLimits { ProtocolLimits(channelNameLength: maximumChannelNameLength) }

    func with(_ change: (inout ServerProfile) -> Void) -> ServerProfile {
        var profile = self
        change(&profile)
        return profile
    }
}
