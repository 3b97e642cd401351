import PusherChannels

extension ServerProfile {
    /// The hosted service, as its documentation and its clients describe it.
    public static let hosted = ServerProfile()

    /// Laravel Reverb, as observed. It has no users.
    public static let reverb = ServerProfile().with {
        $0.activityTimeout = 30
        $0.unknownKeys = .told("Application does not exist")
        $0.sendsErrorDataAsText = true
        $0.channelRefusal = .connectionError
        $0.refusalWords = "Connection is unauthorized"
        $0.unreadableMessages = .refused(code: 4200, message: "Invalid message format")
        $0.unknownEvents = .refused(code: 4200, message: "Invalid message format")
        $0.pongData = .absent
        $0.supportsSignIn = false
        $0.watchlist = nil
        $0.sendsEmptyHashAsArray = true
        $0.clientEventData = .valueButNoText
        $0.membersWithoutInfo = .breakTheirChannel
        $0.takesDigestOfNothing = false
        $0.publishers = .ofSecret
        $0.sendsWebhooks = false
    }

    /// soketi, according to its source, with user authentication enabled.
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

    /// Sockudo with clients of Pusher's protocol (its V1), according to its source.
    public static let sockudo = ServerProfile().with {
        $0.maximumWaitingMessages = 1000
        $0.channelRefusal = .connectionError
        $0.pongData = .absent
        $0.watchlist = .plainEvents
    }

    /// pusher-fake 6.1.0, a test server, as observed. It has no users, and lets everybody in.
    public static let pusherFake = ServerProfile().with {
        $0.unknownKeys = .welcome
        $0.channelRefusal = .internalSubscriptionError
        $0.unreadableMessages = .fatal
        $0.pongData = .text
        $0.supportsSignIn = false
        $0.watchlist = nil
        $0.cacheChannels = .onlyPublic
        $0.cacheMissData = "null"
        $0.listsMemberIDs = false
        $0.memberChanges = .ofConnections
        $0.publishers = .all
    }

    /// pylon, according to its source.
    public static let pylon = ServerProfile().with {
        $0.successData = .emptyText
        $0.namesChannelInErrors = true
        $0.maximumWaitingMessages = 1000
    }

    /// ipe, as observed. It has no users and no cache channels.
    public static let ipe = ServerProfile().with {
        $0.channelRefusal = .errorWithoutCode
        $0.refusalWords = "Auth value for subscription to {channel} is invalid"
        $0.pongData = .absent
        $0.supportsSignIn = false
        $0.watchlist = nil
        $0.cacheChannels = .none
        $0.clientEventData = .value
        $0.memberChanges = .ofUsersUntilOneLeaves
        $0.servesBatches = false
        $0.publishers = .ofSecret
    }

    /// poxa 1.3, as observed. Only messages from clients count as activity. It has no users and no cache channels.
    public static let poxa = ServerProfile().with {
        $0.silenceLimit = SilenceLimit(.seconds(120), code: 1000)
        $0.channelRefusal = .errorWithoutCode
        $0.supportsSignIn = false
        $0.watchlist = nil
        $0.cacheChannels = .none
        $0.clientEventData = .value
        $0.servesBatches = false
        $0.publishers = .ofSecret
    }
}

extension ServerProfile {
    /// The servers that can be imitated, by the names that `pusher-channels serve --profile` takes.
    public static let byName: KeyValuePairs<String, ServerProfile> = [
        "hosted": hosted, "reverb": reverb, "soketi": soketi, "sockudo": sockudo, "pusher-fake": pusherFake, "pylon": pylon,
        "ipe": ipe, "poxa": poxa,
    ]

    var channelLimits: ProtocolLimits { ProtocolLimits(channelNameLength: maximumChannelNameLength) }
}
