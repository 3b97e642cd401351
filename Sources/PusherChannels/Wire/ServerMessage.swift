/// A parsed message from the server.
enum ServerMessage: Equatable, Sendable {
    /// An application event, which is the hot path.
    case event(Envelope)
    /// An event of the protocol itself, with the envelope it came in.
    indirect case control(ServerControl, Envelope)
}

/// The protocol's own events. Their `data` is read as tolerantly as the servers in the field require.
enum ServerControl: Equatable, Sendable {
    /// `activityTimeout` is absent from servers that speak an older protocol.
    case connectionEstablished(socketID: SocketID, activityTimeout: Duration?)
    case error(code: Int?, message: String)
    case ping
    case pong
    /// `presence` is nil if the data holds no member list.
    case subscriptionSucceeded(channel: Name, presence: PresenceSnapshot?)
    case subscriptionError(channel: Name, type: String?, message: String, status: Int?)
    case subscriptionCount(channel: Name, count: Int)
    case memberAdded(channel: Name, member: PresenceMember)
    case memberRemoved(channel: Name, userID: Name)
    /// A cache channel has no cached event.
    case cacheMiss(channel: Name)
    case signedIn(userID: Name)
    case watchlist([WatchlistEvent])
    /// Sockudo's answer to a request to replay what channels missed.
    case resumed(ResumeAnswer)
    /// A channel isn't replayed, which the answer says again.
    case resumeFailed
    /// Sockudo's answer to a request for a channel's history.
    case history(channel: Name, HistoryPage)
    /// The past events that a subscription began with have come.
    case rewound
    /// A name with a reserved prefix that this version does not know.
    case unknown
}

/// Users on this user's watchlist who came or went: `online` or `offline`.
struct WatchlistEvent: Equatable, Sendable {
    let name: Name
    let userIDs: [String]
}

/// A member of a presence channel as the server describes it.
struct PresenceMember: Equatable, Sendable {
    let userID: Name
    let info: JSONText?

    /// The number of bytes it keeps.
    var size: Int { userID.text.utf8.count + (info?.text.utf8.count ?? 0) }
}

/// The members that a presence channel has at the moment of subscription.
struct PresenceSnapshot: Equatable, Sendable {
    /// The members in the order of the server's `ids`. Members that only `hash` names follow, in its order.
    let list: MemberList
}

/// The protocol's own events, by their names.
private enum ProtocolEvent: String, CaseIterable {
    case connectionEstablished = "pusher:connection_established"
    case error = "pusher:error"
    case ping = "pusher:ping"
    case pong = "pusher:pong"
    case subscriptionSucceeded = "pusher_internal:subscription_succeeded"
    case subscriptionError = "pusher:subscription_error"
    case internalSubscriptionError = "pusher_internal:subscription_error"
    case subscriptionCount = "pusher_internal:subscription_count"
    case signedIn = "pusher:signin_success"
    case watchlist = "pusher_internal:watchlist_events"
    case cacheMiss = "pusher:cache_miss"
    case memberAdded = "pusher_internal:member_added"
    case memberRemoved = "pusher_internal:member_removed"
    case resumed = "sockudo:resume_success"
    case resumeFailed = "sockudo:resume_failed"
    case history = "sockudo:channel_history"
    case rewound = "sockudo:rewind_complete"

    static let byName = Dictionary(uniqueKeysWithValues: allCases.map { (Name($0.rawValue), $0) })
    /// The names in protocol 7 of Sockudo's events.
    static let pusherNames = Dictionary(
        uniqueKeysWithValues: byName.keys.filter { $0.begins(with: "pusher") }.map {
            (Name("sockudo" + $0.text.dropFirst("pusher".count)), $0)
        })
}

extension ServerMessage {
    /// Creates a message from an event whose name begins like the protocol's own.
    init(reserved envelope: Envelope) throws(MalformedMessage) {
        let name = envelope.event
        guard let event = ProtocolEvent.byName[name] else {
            let isReserved = ["pusher:", "pusher_internal:", "sockudo:", "sockudo_internal:"].contains { name.begins(with: $0) }
            self = isReserved ? .control(.unknown, envelope) : .event(envelope)
            return
        }
        self = .control(try ServerControl(event, of: envelope), envelope)
    }
}

extension ServerControl {
    fileprivate init(_ event: ProtocolEvent, of envelope: Envelope) throws(MalformedMessage) {
        let reader = ControlReader(envelope: envelope)
        switch event {
        case .connectionEstablished: self = try reader.connectionEstablished()
        case .error: self = reader.error()
        case .ping: self = .ping
        case .pong: self = .pong
        case .subscriptionSucceeded: self = try reader.subscriptionSucceeded()
        case .subscriptionError, .internalSubscriptionError: self = try reader.subscriptionError()
        case .subscriptionCount: self = try reader.subscriptionCount()
        case .signedIn: self = try reader.signedIn()
        case .watchlist: self = .watchlist(reader.watchlist())
        case .cacheMiss: self = try reader.cacheMiss()
        case .memberAdded: self = try reader.memberAdded()
        case .memberRemoved: self = try reader.memberRemoved()
        case .resumed: self = .resumed(ResumeAnswer(envelope))
        case .resumeFailed: self = .resumeFailed
        case .history: self = try reader.history()
        case .rewound: self = .rewound
        }
    }
}

extension Envelope {
    /// The event under its name in protocol 7, if that has one: Sockudo has its own prefixes, and mixes both.
    var withPusherPrefix: Envelope { ProtocolEvent.pusherNames[event].map { renamed($0) } ?? self }
}
