import PusherChannels

/// The sorts of events that webhooks tell of; an app's dashboard turns them on one by one.
public enum WebhookKind: String, Sendable, CaseIterable {
    /// The first connection subscribed to a channel.
    case channelOccupied = "channel_occupied"
    /// The last connection left a channel.
    case channelVacated = "channel_vacated"
    /// A user came into a presence channel.
    case memberAdded = "member_added"
    /// A user left a presence channel.
    case memberRemoved = "member_removed"
    /// A client sent an event to the others on its channel.
    case clientEvent = "client_event"
    /// Somebody subscribed to a cache channel that keeps nothing.
    case cacheMiss = "cache_miss"
    /// The number of connections on a channel changed.
    case subscriptionCount = "subscription_count"
}

/// An event that an app's backend is told of.
struct WebhookEvent: Hashable, Sendable {
    let kind: WebhookKind
    let channel: String
    /// The user who came, left, or sent; only presence channels have any.
    var userID: String?
    /// The client event's name, its data and who sent it.
    var clientEvent: ClientEvent?
    /// The number of connections.
    var count: Int?

    struct ClientEvent: Hashable, Sendable {
        let name: String
        let data: String?
        let socketID: String
    }

    init(
        _ kind: WebhookKind, channel: String, userID: String? = nil, clientEvent: ClientEvent? = nil, count: Int? = nil
    ) {
        self.kind = kind
        self.channel = channel
        self.userID = userID
        self.clientEvent = clientEvent
        self.count = count
    }

    /// The event as a webhook's body has it.
    var json: JSONValue {
        var members: [Name: JSONValue] = ["name": .string(kind.rawValue), "channel": .string(channel)]
        members["user_id"] = userID.map { .string($0) }
        members["event"] = clientEvent.map { .string($0.name) }
        members["data"] = clientEvent?.data.map { .string($0) }
        members["socket_id"] = clientEvent.map { .string($0.socketID) }
        members["subscription_count"] = count.map { .integer($0) }
        return .object(members)
    }

    /// The departure that this takes back; `nil` for what is no arrival.
    var departureTakenBack: WebhookEvent? {
        switch kind {
        case .channelOccupied: WebhookEvent(.channelVacated, channel: channel)
        case .memberAdded: WebhookEvent(.memberRemoved, channel: channel, userID: userID)
        default: nil
        }
    }

    var isDeparture: Bool { kind == .channelVacated || kind == .memberRemoved }
}
