/// The details in which servers differ, one by one.
extension ServerProfile {
    /// The messages of a server that is being stopped.
    public struct Shutdown: Equatable, Sendable {
        /// The close frame's code.
        public var code: UInt16
        /// The close frame's reason.
        public var reason: String
        /// Indicates whether a `pusher:error` with the same code is sent before it.
        public var isAnnounced: Bool

        /// Creates shutdown settings.
        public init(code: UInt16, reason: String, isAnnounced: Bool) {
            self.code = code
            self.reason = reason
            self.isAnnounced = isAnnounced
        }
    }

    /// The longest time that a client may send nothing, whether or not the server pings it.
    public struct SilenceLimit: Equatable, Sendable {
        /// The time since the client's latest message.
        public var duration: Duration
        /// The code with which the connection is closed.
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

    /// The message that tells a client that its subscription was refused.
    public enum ChannelRefusal: Equatable, Sendable {
        /// A `pusher:subscription_error`, which names the channel and the reason.
        case subscriptionError
        /// A `pusher_internal:subscription_error`, which names the channel only.
        case internalSubscriptionError
        /// A `pusher:error` with code 4009 (or 4300 for an invalid name), which names no channel.
        case connectionError
        /// A `pusher:error` without a code.
        case errorWithoutCode
    }

    /// The treatment of a client whose key the server doesn't know.
    public enum UnknownKeys: Equatable, Sendable {
        /// The client gets error 4001 and is closed with it.
        case closed
        /// The client gets error 4001, and nothing after that.
        case told(String)
        /// The client is let in, to the first app.
        case welcome
    }

    /// The treatment of a message that isn't JSON.
    public enum UnreadableMessages: Equatable, Sendable {
        /// A `pusher:error`; the connection stays.
        case refused(code: Int?, message: String)
        /// The message ends the server: every connection is closed, with 1011.
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
        /// A string: the one that was sent, or one that holds the JSON value that was sent.
        case text
        /// The JSON value that was sent.
        case value
        /// The value that was sent; data that is a string is refused with 4200.
        case valueButNoText
    }

    /// The changes that a presence channel's members are told of if a user has several connections.
    public enum MemberChanges: Equatable, Sendable {
        /// The first connection joining and the last one leaving.
        case ofUsers
        /// The first connection joining, and each one leaving: members miss a user who is still there.
        case ofUsersUntilOneLeaves
        /// Each connection joining and leaving; each one counts.
        case ofConnections
    }

    /// The treatment of members who join a presence channel with a `channel_data` that has no `user_info`.
    public enum MembersWithoutInfo: Equatable, Sendable {
        /// They join.
        case join
        /// They get error 4200, and so does everybody who joins while they are present.
        case breakTheirChannel
    }

    /// The signatures that the HTTP API accepts.
    public enum Publishers: Equatable, Sendable {
        /// Signatures with an app's key and secret.
        case ofKeyAndSecret
        /// Signatures with an app's secret.
        case ofSecret
        /// Any signature, or none.
        case all
    }

    /// The kinds of cache channels that exist; other channels with such a name are ordinary ones.
    public enum CacheChannels: Equatable, Sendable {
        /// Cache channels of every kind.
        case all
        /// Cache channels of every kind except encrypted ones.
        case allButEncrypted
        /// Public cache channels.
        case onlyPublic
        /// None.
        case none
    }

    /// The treatment of a `pusher:` event that the server doesn't know.
    public enum UnknownEvents: Equatable, Sendable {
        /// The event is ignored.
        case ignored
        /// A `pusher:error` with this code; the connection stays.
        case refused(code: Int, message: String)
    }

    /// The way in which a client is told about the users on its watchlist.
    public enum Watchlist: Equatable, Sendable {
        /// By `pusher_internal:watchlist_events`.
        case watchlistEvents
        /// By events named `online` and `offline`.
        case plainEvents
    }
}
