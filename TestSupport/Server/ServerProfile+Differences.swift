import PusherChannels

/// The details in which servers differ, one by one.
extension ServerProfile {
    /// The messages of a server that is being stopped.
    package struct Shutdown: Equatable, Sendable {
        /// The close frame's code.
        package var code: UInt16
        /// The close frame's reason.
        package var reason: String
        /// Indicates whether a `pusher:error` with the same code is sent before it.
        package var isAnnounced: Bool

        /// Creates shutdown settings.
        package init(code: UInt16, reason: String, isAnnounced: Bool) {
            self.code = code
            self.reason = reason
            self.isAnnounced = isAnnounced
        }
    }

    /// The longest time that a client may send nothing, whether or not the server pings it.
    package struct SilenceLimit: Equatable, Sendable {
        /// The time since the client's latest message.
        package var duration: Duration
        /// The code with which the connection is closed.
        package var code: UInt16

        /// Creates a limit.
        package init(_ duration: Duration, code: UInt16) {
            self.duration = duration
            self.code = code
        }
    }

    /// The data that `pusher_internal:subscription_succeeded` carries on channels without members.
    package enum SuccessData: Equatable, Sendable {
        /// `"{}"`
        case object
        /// `""`
        case emptyText
        /// Nothing.
        case absent
        /// `{}`, an object.
        case value
    }

    /// The message that tells a client that its subscription was refused.
    package enum ChannelRefusal: Equatable, Sendable {
        /// A `pusher:subscription_error`, which names the channel and the reason.
        case subscriptionError
        /// A `pusher_internal:subscription_error`, which names the channel only.
        case internalSubscriptionError
        /// A `pusher:error` with code 4009 (or 4300 for an invalid name), which names no channel.
        case connectionError
        /// A `pusher:error` without a code.
        case errorWithoutCode
    }

    /// The data that `pusher:pong` carries.
    package enum PongData: Equatable, Sendable {
        /// `{}`
        case object
        /// `"{}"`
        case text
        /// Nothing.
        case absent
    }

    /// The form in which a client event's data reaches the others.
    package enum ClientEventData: Equatable, Sendable {
        /// A string: the one that was sent, or one that holds the JSON value that was sent.
        case text
        /// The JSON value that was sent.
        case value
        /// The JSON value that was sent; `null` if there was none.
        case valueOrNull
        /// A string that holds the JSON value that was sent, also if that was a string.
        case encoded
        /// The object, array or `null` that was sent or that the string holds; anything else is refused with 4200.
        case structure
    }

    /// The attributes of channels that the HTTP API gives.
    package struct Attributes: OptionSet, Sendable {
        /// The attributes as bits.
        package let rawValue: Int
        /// The number of a presence channel's users.
        package static let userCount = Attributes(rawValue: 1)
        /// The number of a channel's connections.
        package static let subscriptionCount = Attributes(rawValue: 2)
        /// A cache channel's event.
        package static let cache = Attributes(rawValue: 4)

        /// Creates attributes from bits.
        package init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    /// The form of a cache channel's event in the HTTP API.
    package enum CacheDescription: Equatable, Sendable {
        /// The event's data, and the seconds that are left.
        case dataAndLifetime
        /// The whole message as text, and the seconds that are left.
        case messageAndLifetime
        /// The whole message as an object.
        case message
    }

    /// What stands for the `user_info` of a member who has none.
    package struct MissingInfo: Equatable, Sendable {
        /// A JSON value, or nothing.
        package enum Value: Equatable, Sendable {
            /// Nothing.
            case absent
            /// `null`
            case null
            /// `{}`
            case object
        }

        /// In `member_added`.
        package var told: Value
        /// In the list of members. A member with nothing there is only among the ids.
        package var listed: Value

        /// Creates what stands for a missing `user_info`.
        package init(told: Value, listed: Value) {
            self.told = told
            self.listed = listed
        }
    }

    /// The changes that a presence channel's members are told of if a user has several connections.
    package enum MemberChanges: Equatable, Sendable {
        /// The first connection joining and the last one leaving.
        case ofUsers
        /// The first connection joining, and each one leaving: members miss a user who is still there.
        case ofUsersUntilOneLeaves
        /// Each connection joining and leaving; each one counts.
        case ofConnections
    }

    /// The treatment of members who join a presence channel with a `channel_data` that has no `user_info`.
    package enum MembersWithoutInfo: Equatable, Sendable {
        /// They join.
        case join
        /// They get error 4200, and so does everybody who joins while they are present.
        case breakTheirChannel
    }

    /// The signatures that the HTTP API accepts.
    package enum Publishers: Equatable, Sendable {
        /// Signatures with an app's key and secret.
        case ofKeyAndSecret
        /// Signatures with an app's secret.
        case ofSecret
        /// Any signature, or none.
        case all
    }

    /// The kinds of cache channels that exist; other channels with such a name are ordinary ones.
    package enum CacheChannels: Equatable, Sendable {
        /// Cache channels of every kind.
        case all
        /// Cache channels of every kind except encrypted ones.
        case allButEncrypted
        /// Public cache channels.
        case onlyPublic
        /// None.
        case none
    }

    /// The way in which a client is told about the users on its watchlist.
    package enum Watchlist: Equatable, Sendable {
        /// By `pusher_internal:watchlist_events`.
        case watchlistEvents
        /// By events named `online` and `offline`.
        case plainEvents
    }
}

extension ServerProfile.MissingInfo.Value {
    var value: JSONValue? {
        switch self {
        case .absent: nil
        case .null: .null
        case .object: [:]
        }
    }
}
