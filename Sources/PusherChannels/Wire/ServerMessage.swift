/// What a server says, understood.
enum ServerMessage: Equatable, Sendable {
    /// An application's event: the hot path.
    case event(Envelope)
    /// An event of the protocol itself, with the envelope it came in.
    indirect case control(ServerControl, Envelope)
}

/// The protocol's own events, their `data` read as tolerantly as the servers in the field demand.
enum ServerControl: Equatable, Sendable {
    /// `activityTimeout` is absent from servers that speak an older protocol.
    case connectionEstablished(socketID: String, activityTimeout: Duration?)
    case error(code: Int?, message: String)
    case ping
    case pong
    /// `presence` is nil where the data holds no member list.
    case subscriptionSucceeded(channel: String, presence: PresenceSnapshot?)
    case subscriptionError(channel: String, type: String?, message: String, status: Int?)
    case subscriptionCount(channel: String, count: Int)
    case memberAdded(channel: String, member: PresenceMember)
    case memberRemoved(channel: String, userID: String)
    /// A cache channel has no event to give.
    case cacheMiss(channel: String)
    case signedIn(userID: String)
    case watchlist([WatchlistEvent])
    /// A name with a reserved prefix that this version does not know.
    case unknown
}

/// Users on this user's watchlist who came or went: `online` or `offline`.
struct WatchlistEvent: Equatable, Sendable {
    let name: String
    let userIDs: [String]
}

/// A member of a presence channel as the server describes it.
struct PresenceMember: Equatable, Sendable {
    let userID: String
    let info: JSONValue?
}

/// The members that a presence channel has at the moment of subscription.
struct PresenceSnapshot: Equatable, Sendable {
    /// In the order of the server's `ids`; members that only `hash` names follow, by id.
    let members: [PresenceMember]
}

extension ServerMessage {
    init(reserved envelope: Envelope) throws(MalformedFrame) {
        let reader = ControlReader(envelope: envelope)
        let control: ServerControl
        switch envelope.event {
        case "pusher:connection_established": control = try reader.connectionEstablished()
        case "pusher:error": control = reader.error()
        case "pusher:ping": control = .ping
        case "pusher:pong": control = .pong
        case "pusher_internal:subscription_succeeded": control = try reader.subscriptionSucceeded()
        case "pusher:subscription_error", "pusher_internal:subscription_error": control = try reader.subscriptionError()
        case "pusher_internal:subscription_count": control = try reader.subscriptionCount()
        case "pusher:signin_success": control = try reader.signedIn()
        case "pusher_internal:watchlist_events": control = .watchlist(reader.watchlist())
        case "pusher:cache_miss": control = try reader.cacheMiss()
        case "pusher_internal:member_added": control = try reader.memberAdded()
        case "pusher_internal:member_removed": control = try reader.memberRemoved()
        case let name where name.begins(with: "pusher:") || name.begins(with: "pusher_internal:"): control = .unknown
        default:
            self = .event(envelope)
            return
        }
        self = .control(control, envelope)
    }
}
