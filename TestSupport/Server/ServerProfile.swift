import PusherChannels

/// The details in which Channels servers differ.
///
/// Start with a named profile, such as ``reverb``, and change the details that the test is about.
public struct ServerProfile: Equatable, Sendable {
    /// The server's version, and when it was recorded or where the profile is from.
    public var about = "from the documentation"
    /// The server's own answers; on other occasions it answers as the hosted service does.
    public var answers: [Occasion: Answer] = [:]

    // MARK: Connections

    /// The activity time-out that `connection_established` tells clients, in seconds (`activity_timeout`).
    public var activityTimeout = 120
    /// Indicates whether clients of versions before 7 are told it, too.
    public var tellsActivityTimeoutToAll = false
    /// The time a connection may be silent before the server sends `pusher:ping`; `nil` means it never does.
    public var idleTimeout: Duration?
    /// The time that the server waits for a message after its ping, before it closes the connection with 4201.
    public var pongTimeout: Duration = .seconds(30)
    /// The limit after which a silent client is closed.
    public var silenceLimit: SilenceLimit? = SilenceLimit(.seconds(24 * 60 * 60), code: 4202)
    /// The protocol versions that are served; others are refused with 4007.
    public var protocolVersions: ClosedRange<Int> = 5...7
    /// Sockudo's protocol V2; `nil` if the server doesn't have it.
    public var sockudoV2: SockudoV2?
    /// The largest number of connections; more are refused with 4100.
    public var maximumConnections: Int?
    /// The largest number of messages that may wait for a client that doesn't read. With more, the client is closed with 4100.
    /// `nil` means that there is no limit.
    public var maximumWaitingMessages: Int? = 10_000
    /// The messages that clients get when the server is stopped.
    public var shutdown = Shutdown(code: 1001, reason: "Server stopped", isAnnounced: false)

    // MARK: Messages

    /// The data that a successful subscription carries on channels without members.
    public var successData = SuccessData.object
    /// Indicates whether the `data` of `pusher:error` is text that holds JSON, not an object.
    public var sendsErrorDataAsText = false
    /// Indicates whether a `pusher:error` about a channel names it.
    public var namesChannelInErrors = false
    /// The message that tells a client that its subscription was refused.
    public var channelRefusal = ChannelRefusal.subscriptionError
    /// The data that `pusher:pong` carries.
    public var pongData = PongData.object
    /// The data that `pusher:cache_miss` carries, as JSON; `nil` for nothing.
    public var cacheMissData: String?
    /// Indicates whether the list of a presence channel's members includes their ids in order, besides their data.
    public var listsMemberIDs = true
    /// Indicates whether an empty list of members is sent as `[]`, not `{}`.
    public var sendsEmptyHashAsArray = false
    /// What stands for the `user_info` of a member who has none.
    public var missingInfo = MissingInfo(told: .absent, listed: .null)
    /// Indicates whether `member_added` is sent before the success of the one who joins.
    public var tellsMembersFirst = false
    /// Indicates whether `member_removed` is sent to the one who leaves, too.
    public var tellsLeavers = false
    /// Indicates whether `member_removed` carries the `user_info`.
    public var describesLeavers = false
    /// Indicates whether a member's id that is a number stays one.
    public var keepsNumericIDs = false
    /// The changes that a presence channel's members are told of if a user has several connections.
    public var memberChanges = MemberChanges.ofUsers

    // MARK: Abilities

    /// Indicates whether users can sign in.
    public var supportsSignIn = true
    /// The way in which watchlists are served; `nil` if they aren't.
    public var watchlist: Watchlist? = .watchlistEvents
    /// The kinds of cache channels that exist.
    public var cacheChannels = CacheChannels.all
    /// The time for which cache channels keep an event.
    public var cacheLifetime: Duration = .seconds(30 * 60)
    /// The form in which a client event's data reaches the others.
    public var clientEventData = ClientEventData.text
    /// Indicates whether client events on presence channels name their sender.
    public var namesSenders = true
    /// Indicates whether cache channels keep client events.
    public var cachesClientEvents = false
    /// Indicates whether an event for a user reaches all of the user's connections, subscribed or not.
    public var reachesUsersDirectly = false
    /// Indicates whether the success of a sign-in repeats its signature.
    public var repeatsSignInAuth = false
    /// The treatment of members who join without a `user_info`.
    public var membersWithoutInfo = MembersWithoutInfo.join
    /// The signatures that the HTTP API accepts.
    public var publishers = Publishers.ofKeyAndSecret
    /// The attributes that the HTTP API gives when it is asked about channels.
    public var attributes: Attributes = [.userCount, .subscriptionCount, .cache]
    /// The attributes that the HTTP API gives in a list of channels; `nil` if they are the same.
    public var listedAttributes: Attributes?
    /// The attributes that the HTTP API gives when an event is published.
    public var publishedAttributes: Attributes = [.userCount, .subscriptionCount, .cache]
    /// The attributes that the HTTP API always gives, and with them whether a channel is occupied.
    public var attributesUnasked: Attributes = []
    /// Indicates whether the HTTP API lists a channel's connections, by their socket ids, as its users.
    public var listsSocketIDs = false
    /// Indicates whether the HTTP API gives no number of subscriptions of presence channels.
    public var hidesPresentSubscriptions = false
    /// Indicates whether the HTTP API counts a user once for each connection.
    public var countsConnectionsAsUsers = false
    /// Indicates whether the HTTP API lists channels that were published to, though nobody has ever been on them.
    public var keepsEmptyChannels = false
    /// The form of a cache channel's event in the HTTP API.
    public var cacheDescription = CacheDescription.dataAndLifetime
    /// Indicates whether a publish that asks for attributes is given an `acknowledgement_id`, too.
    public var acknowledgesEvents = false
    /// Indicates whether data that isn't text, if accepted, is delivered as it is, not as text.
    public var sendsPublishedValues = false
    /// Indicates whether published text that isn't JSON is delivered as a JSON string within the text.
    public var encodesPlainText = false
    /// Indicates whether the HTTP API accepts batches of events; if not, it responds with 404.
    public var servesBatches = true

    /// The time for which the HTTP API knows a publish again by its `idempotency_key`; `nil` if it ignores keys. A key whose publish
    /// failed counts as one under way for two minutes.
    public var publishKeyLifetime: Duration?

    /// Indicates whether apps' backends receive webhooks.
    public var sendsWebhooks = true
    /// Indicates whether a webhook carries a client event's data as it was sent, not as text.
    public var webhooksCarryValues = false
    /// Indicates whether `time_ms` of webhooks is in seconds, not milliseconds.
    public var webhookTimesAreInSeconds = false
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
