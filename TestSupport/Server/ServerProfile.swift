import PusherChannels

/// The details in which Channels servers differ.
///
/// Begin with one that has a name, such as ``reverb``, and change what the test is about.
public struct ServerProfile: Equatable, Sendable {
    // MARK: Connections

    /// The activity time-out that `connection_established` tells clients, in seconds (`activity_timeout`).
    public var activityTimeout = 120
    /// The time a connection may be silent before the server sends `pusher:ping`; `nil` means it never does.
    public var idleTimeout: Duration?
    /// The time the server waits for a sign of life after its ping; then it closes with 4201.
    public var pongTimeout: Duration = .seconds(30)
    /// When a client that says nothing is closed.
    public var silenceLimit: SilenceLimit? = SilenceLimit(.seconds(24 * 60 * 60), code: 4202)
    /// The treatment of a client whose key the server doesn't know.
    public var unknownKeys = UnknownKeys.closed
    /// The protocol versions that are served; others are refused with 4007.
    public var protocolVersions: ClosedRange<Int> = 5...7
    /// The largest number of connections; more are refused with 4100.
    public var maximumConnections: Int?
    /// The largest number of messages that may wait for a client that doesn't read; with more it is closed with 4100. `nil` for as many as
    /// there are.
    public var maximumWaitingMessages: Int? = 10_000
    /// The words that clients hear when the server is stopped.
    public var shutdown = Shutdown(code: 1001, reason: "Server stopped", isAnnounced: false)

    // MARK: Messages

    /// The data that a success carries on channels without members.
    public var successData = SuccessData.object
    /// Indicates whether the `data` of `pusher:error` is text that holds JSON, not an object.
    public var sendsErrorDataAsText = false
    /// Indicates whether a `pusher:error` about a channel names it.
    public var namesChannelInErrors = false
    /// The way in which a client hears that it was not let into a channel.
    public var channelRefusal = ChannelRefusal.subscriptionError
    /// The treatment of an event that the server doesn't know.
    public var unknownEvents = UnknownEvents.ignored
    /// The words for why a channel's signature was refused, `{channel}` standing for the channel; `nil` for the hosted service's words.
    public var refusalWords: String?
    /// The treatment of a message that is no JSON.
    public var unreadableMessages = UnreadableMessages.refused(code: nil, message: "Invalid JSON")
    /// The data that `pusher:pong` carries.
    public var pongData = PongData.object
    /// The data that `pusher:cache_miss` carries, as JSON; `nil` for nothing.
    public var cacheMissData: String?
    /// Indicates whether the list of a presence channel's members has their ids in order beside what is known about them.
    public var listsMemberIDs = true
    /// Indicates whether a list of no members is sent as `[]`, not `{}`.
    public var sendsEmptyHashAsArray = false
    /// When members hear of each other.
    public var memberChanges = MemberChanges.ofUsers

    // MARK: Abilities

    /// Indicates whether users can sign in.
    public var supportsSignIn = true
    /// Indicates whether a connection is closed, with 4009, when its user could not be signed in.
    public var closesAfterRefusedSignIn = false
    /// The way in which watchlists are served; `nil` means not at all.
    public var watchlist: Watchlist? = .watchlistEvents
    /// Which cache channels there are.
    public var cacheChannels = CacheChannels.all
    /// The time for which cache channels keep an event.
    public var cacheLifetime: Duration = .seconds(30 * 60)
    /// The form in which a client event's data reaches the others.
    public var clientEventData = ClientEventData.text
    /// The treatment of members of whom nothing is known.
    public var membersWithoutInfo = MembersWithoutInfo.join
    /// The signatures that the HTTP API takes.
    public var publishers = Publishers.ofKeyAndSecret
    /// Indicates whether the HTTP API takes batches of events; 404 otherwise.
    public var servesBatches = true
    /// Indicates whether the HTTP API takes the digest of an empty body, which the official Python library sends.
    public var takesDigestOfNothing = true

    /// Indicates whether apps' backends are told of what happens on channels.
    public var sendsWebhooks = true
    /// The time for which a webhook holds back that somebody left: who comes back meanwhile did not.
    public var webhookDepartureDelay: Duration = .seconds(3)
    /// The time for which a webhook waits for more events.
    public var webhookWindow: Duration = .milliseconds(250)

    // MARK: Limits

    /// The largest number of client events a connection may send in a second; more are refused with 4301.
    public var maximumClientEventsPerSecond = 10
    /// The largest number of characters a channel's name may have.
    public var maximumChannelNameLength = 164
    /// The largest number of characters an event's name may have.
    public var maximumEventNameLength = 200
    /// The largest number of bytes of data an event may carry; the HTTP API answers 413 to more.
    public var maximumEventDataLength = 10_240
    /// The largest number of channels one trigger may name.
    public var maximumChannelsPerTrigger = 100
    /// The largest number of events one batch may hold.
    public var maximumBatchLength = 10
    /// The number of events with which a webhook waits for no more.
    public var maximumWebhookLength = 20
    /// The largest number of members a presence channel may have.
    public var maximumPresenceMembers = 100
    /// The largest number of characters a member's id may have.
    public var maximumUserIDLength = 128
    /// The largest number of bytes of JSON that may be known about a member.
    public var maximumUserInfoLength = 1024
    /// The largest number of ids of a watchlist that count; with more the client hears 4302.
    public var maximumWatchlistLength = 100

    init() {}

    func with(_ change: (inout ServerProfile) -> Void) -> ServerProfile {
        var profile = self
        change(&profile)
        return profile
    }
}
