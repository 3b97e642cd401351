import PusherChannels

/// The details in which Channels servers differ.
///
/// Begin with one that has a name, such as ``reverb``, and change what the test is about.
public struct ServerProfile: Equatable, Sendable {
    /// What a server says when it is stopped.
    public struct Shutdown: Equatable, Sendable {
        /// The close frame's code.
        public var code: UInt16
        /// The close frame's reason.
        public var reason: String
        /// Whether a `pusher:error` with the same code goes before it.
        public var isAnnounced: Bool

        /// Creates a way of stopping.
        public init(code: UInt16, reason: String, isAnnounced: Bool) {
            self.code = code
            self.reason = reason
            self.isAnnounced = isAnnounced
        }
    }

    /// How long a client may say nothing, whatever the server asks it.
    public struct SilenceLimit: Equatable, Sendable {
        /// Since the client's latest message.
        public var duration: Duration
        /// The code that the connection is closed with then.
        public var code: UInt16

        /// Creates a limit.
        public init(_ duration: Duration, code: UInt16) {
            self.duration = duration
            self.code = code
        }
    }

    /// What `pusher_internal:subscription_succeeded` carries on channels without members.
    public enum SuccessData: Equatable, Sendable {
        /// `"{}"`
        case object
        /// `""`
        case emptyText
        /// Nothing.
        case absent
    }

    /// How a client hears that it was not let into a channel.
    public enum ChannelRefusal: Equatable, Sendable {
        /// By `pusher:subscription_error`, which names the channel and the reason.
        case subscriptionError
        /// By `pusher_internal:subscription_error`, which names the channel only.
        case internalSubscriptionError
        /// By a `pusher:error` with code 4009 (or 4300 for a bad name) that names no channel.
        case connectionError
    }

    /// What becomes of a `pusher:` event that the server doesn't know.
    public enum UnknownEvents: Equatable, Sendable {
        /// Nothing.
        case ignored
        /// A `pusher:error` with this code; the connection stays.
        case refused(code: Int, message: String)
    }

    /// How a client hears of the people on its watchlist.
    public enum Watchlist: Equatable, Sendable {
        /// By `pusher_internal:watchlist_events`.
        case watchlistEvents
        /// By events that are named `online` and `offline`.
        case plainEvents
    }

    // MARK: Connections

    /// What `connection_established` tells clients, in seconds (`activity_timeout`).
    public var activityTimeout = 120
    /// How long a connection may be silent before the server sends `pusher:ping`; `nil` means it never does.
    public var idleTimeout: Duration?
    /// How long the server waits for a sign of life after its ping; then it closes with 4201.
    public var pongTimeout: Duration = .seconds(30)
    /// When a client that says nothing is closed.
    public var silenceLimit: SilenceLimit? = SilenceLimit(.seconds(24 * 60 * 60), code: 4202)
    /// The protocol versions that are served; others are refused with 4007.
    public var protocolVersions: ClosedRange<Int> = 5...7
    /// How many connections there may be; more are refused with 4100.
    public var maximumConnections: Int?
    /// How many messages may wait for a client that doesn't read; with more it is closed with 4100.
    public var maximumWaitingMessages: Int?
    /// What clients hear when the server is stopped.
    public var shutdown = Shutdown(code: 1001, reason: "Server stopped", isAnnounced: false)

    // MARK: How it says things

    /// What a success carries on channels without members.
    public var successData = SuccessData.object
    /// Whether the `data` of `pusher:error` is text that holds JSON, not an object.
    public var sendsErrorDataAsText = false
    /// Whether a `pusher:error` about a channel names it.
    public var namesChannelInErrors = false
    /// How a client hears that it was not let into a channel.
    public var channelRefusal = ChannelRefusal.subscriptionError
    /// What becomes of an event that the server doesn't know.
    public var unknownEvents = UnknownEvents.ignored
    /// Whether `pusher:pong` carries `data`.
    public var sendsPongData = true
    /// Whether the list of a presence channel's members has their ids in order beside what is known about them.
    public var listsMemberIDs = true
    /// Whether a list of no members is sent as `[]`, not `{}`.
    public var sendsEmptyHashAsArray = false
    /// Whether somebody who joins a presence channel is told so by `member_added`, too.
    public var announcesMembersToThemselves = false

    // MARK: What it can do

    /// Whether users can sign in.
    public var supportsSignIn = true
    /// Whether a connection is closed, with 4009, when its user could not be signed in.
    public var closesAfterRefusedSignIn = false
    /// How watchlists are served; `nil` means not at all.
    public var watchlist: Watchlist? = .watchlistEvents
    /// Whether encrypted channels can be cache channels.
    public var cachesEncryptedChannels = true
    /// How long cache channels keep an event.
    public var cacheLifetime: Duration = .seconds(30 * 60)
    /// Whether a client event's data may be a string.
    public var acceptsTextInClientEvents = true

    // MARK: Limits

    /// How many client events a connection may send in a second; more are refused with 4301.
    public var maximumClientEventsPerSecond = 10
    /// How many characters a channel's name may have.
    public var maximumChannelNameLength = 164
    /// How many characters an event's name may have.
    public var maximumEventNameLength = 200
    /// How many bytes of data an event may carry; the HTTP API answers 413 to more.
    public var maximumEventDataLength = 10_240
    /// How many channels one trigger may name.
    public var maximumChannelsPerTrigger = 100
    /// How many events one batch may hold.
    public var maximumBatchLength = 10
    /// How many members a presence channel may have.
    public var maximumPresenceMembers = 100
    /// How many characters a member's id may have.
    public var maximumUserIDLength = 128
    /// How many bytes of JSON may be known about a member.
    public var maximumUserInfoLength = 1024
    /// How many ids of a watchlist count; with more the client hears 4302.
    public var maximumWatchlistLength = 100

    private init() {}

    private func with(_ change: (inout ServerProfile) -> Void) -> ServerProfile {
        var profile = self
        change(&profile)
        return profile
    }

    // MARK: Servers

    /// The hosted service, as its documentation and its clients describe it.
    public static let hosted = ServerProfile()

    /// Laravel Reverb, as its source has it. It knows no users.
    public static let reverb = ServerProfile().with {
        $0.activityTimeout = 30
        $0.sendsErrorDataAsText = true
        $0.channelRefusal = .connectionError
        $0.unknownEvents = .refused(code: 4200, message: "Invalid message format")
        $0.sendsPongData = false
        $0.supportsSignIn = false
        $0.watchlist = nil
        $0.sendsEmptyHashAsArray = true
        $0.acceptsTextInClientEvents = false
    }

    /// soketi, as its source has it, with user authentication enabled.
    public static let soketi = ServerProfile().with {
        $0.activityTimeout = 30
        $0.silenceLimit = SilenceLimit(.seconds(120), code: 4201)
        $0.shutdown = Shutdown(code: 4200, reason: "Server is closing. Please reconnect shortly.", isAnnounced: true)
        $0.successData = .absent
        $0.namesChannelInErrors = true
        $0.closesAfterRefusedSignIn = true
        $0.watchlist = nil
        $0.cacheLifetime = .seconds(60 * 60)
        $0.maximumChannelNameLength = 200
        $0.maximumEventDataLength = 102_400
        $0.maximumUserInfoLength = 2048
    }

    /// Sockudo with clients of Pusher's protocol (its V1), as its source has it.
    public static let sockudo = ServerProfile().with {
        $0.maximumWaitingMessages = 1000
        $0.channelRefusal = .connectionError
        $0.sendsPongData = false
        $0.watchlist = .plainEvents
    }

    /// pusher-fake, a test server, as its source has it. It knows no users.
    public static let pusherFake = ServerProfile().with {
        $0.channelRefusal = .internalSubscriptionError
        $0.sendsPongData = false
        $0.supportsSignIn = false
        $0.watchlist = nil
        $0.cachesEncryptedChannels = false
        $0.listsMemberIDs = false
        $0.announcesMembersToThemselves = true
    }

    /// pylon, as its source has it.
    public static let pylon = ServerProfile().with {
        $0.successData = .emptyText
        $0.namesChannelInErrors = true
        $0.maximumWaitingMessages = 1000
    }
}

extension ServerProfile {
    /// The servers that can be imitated, by the names that `pusher-channels serve --profile` takes.
    public static let byName: KeyValuePairs<String, ServerProfile> = [
        "hosted": hosted, "reverb": reverb, "soketi": soketi, "sockudo": sockudo, "pusher-fake": pusherFake, "pylon": pylon,
    ]

    var channelLimits: ProtocolLimits { ProtocolLimits(channelNameLength: maximumChannelNameLength) }
}
