/// The ways in which servers differ, one by one.
extension ServerProfile {
    /// The words of a server that is stopped.
    public struct Shutdown: Equatable, Sendable {
        /// The close frame's code.
        public var code: UInt16
        /// The close frame's reason.
        public var reason: String
        /// Indicates whether a `pusher:error` with the same code goes before it.
        public var isAnnounced: Bool

        /// Creates a way of stopping.
        public init(code: UInt16, reason: String, isAnnounced: Bool) {
            self.code = code
            self.reason = reason
            self.isAnnounced = isAnnounced
        }
    }

    /// The time a client may say nothing, whatever the server asks it.
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

    /// The data that `pusher_internal:subscription_succeeded` carries on channels without members.
    public enum SuccessData: Equatable, Sendable {
        /// `"{}"`
        case object
        /// `""`
        case emptyText
        /// Nothing.
        case absent
    }

    /// The way in which a client hears that it was not let into a channel.
    public enum ChannelRefusal: Equatable, Sendable {
        /// By `pusher:subscription_error`, which names the channel and the reason.
        case subscriptionError
        /// By `pusher_internal:subscription_error`, which names the channel only.
        case internalSubscriptionError
        /// By a `pusher:error` with code 4009 (or 4300 for a bad name) that names no channel.
        case connectionError
        /// By a `pusher:error` without a code.
        case errorWithoutCode
    }

    /// The treatment of a client whose key the server doesn't know.
    public enum UnknownKeys: Equatable, Sendable {
        /// It hears 4001 and is closed with it.
        case closed
        /// It hears 4001, and nothing after that.
        case told(String)
        /// It is let in, to the first app.
        case welcome
    }

    /// The treatment of a message that is no JSON.
    public enum UnreadableMessages: Equatable, Sendable {
        /// A `pusher:error`; the connection stays.
        case refused(code: Int?, message: String)
        /// It ends the server: every connection is closed, with 1011.
        case fatal
    }

    /// The data that `pusher:pong` carries.
    public enum PongData: Equatable, Sendable {
        /// `{}`
        case object
        /// `"{}"`
        case text
        /// Nothing.
        case absent
    }

    /// The form in which a client event's data reaches the others.
    public enum ClientEventData: Equatable, Sendable {
        /// As a string: the one that was sent, or one that holds the JSON that was.
        case text
        /// As the JSON value that was sent.
        case value
        /// As it was sent; data that is a string is refused with 4200.
        case valueButNoText
    }

    /// When a presence channel's members are told of a user who is there over several connections.
    public enum MemberChanges: Equatable, Sendable {
        /// Of the first to come and the last to go.
        case ofUsers
        /// Of the first to come and the first to go.
        case ofUsersUntilOneLeaves
        /// Of each; each counts.
        case ofConnections
    }

    /// The treatment of who joins a presence channel with a `channel_data` that has no `user_info`.
    public enum MembersWithoutInfo: Equatable, Sendable {
        /// They join.
        case join
        /// They hear 4200, and so does everybody who joins while they are there.
        case breakTheirChannel
    }

    /// The signatures that the HTTP API takes.
    public enum Publishers: Equatable, Sendable {
        /// Those with an app's key and secret.
        case ofKeyAndSecret
        /// Those with an app's secret.
        case ofSecret
        /// Everybody.
        case all
    }

    /// The cache channels that there are; others with such a name are ordinary ones.
    public enum CacheChannels: Equatable, Sendable {
        /// Of every kind.
        case all
        /// Of every kind but encrypted ones.
        case allButEncrypted
        /// Public ones.
        case onlyPublic
        /// None.
        case none
    }

    /// The treatment of a `pusher:` event that the server doesn't know.
    public enum UnknownEvents: Equatable, Sendable {
        /// Nothing.
        case ignored
        /// A `pusher:error` with this code; the connection stays.
        case refused(code: Int, message: String)
    }

    /// The way in which a client hears of the people on its watchlist.
    public enum Watchlist: Equatable, Sendable {
        /// By `pusher_internal:watchlist_events`.
        case watchlistEvents
        /// By events that are named `online` and `offline`.
        case plainEvents
    }
}
