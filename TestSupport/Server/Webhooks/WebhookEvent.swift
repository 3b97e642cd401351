import PusherChannels

/// The kinds of events that webhooks report; an app's dashboard turns them on one by one.
public enum WebhookKind: String, Sendable, CaseIterable {
    /// The first connection subscribed to a channel.
    case channelOccupied = "channel_occupied"
    /// The last connection left a channel.
    case channelVacated = "channel_vacated"
    /// A user joined a presence channel.
    case memberAdded = "member_added"
    /// A user left a presence channel.
    case memberRemoved = "member_removed"
    /// A client sent an event to the others on its channel.
    case clientEvent = "client_event"
    /// A client subscribed to a cache channel that keeps no event.
    case cacheMiss = "cache_miss"
    /// The number of connections on a channel changed.
    case subscriptionCount = "subscription_count"
}

/// An event that is reported to an app's backend.
struct WebhookEvent: Hashable, Sendable {
    let kind: WebhookKind
    let channel: Name
    /// The user who joined, left, or sent the event; only presence channels have users.
    var userID: Name?
    /// The client event's name, its data and its sender.
    var clientEvent: ClientEvent?
    /// The number of connections.
    var count: Int?

    struct ClientEvent: Hashable, Sendable {
        let name: String
        let data: String?
        /// Indicates whether the data is JSON, not text.
        var isValue = false
        let socketID: String
    }

    init(
        _ kind: WebhookKind, channel: Name, userID: Name? = nil, clientEvent: ClientEvent? = nil, count: Int? = nil
    ) {
        self.kind = kind
        self.channel = channel
        self.userID = userID
        self.clientEvent = clientEvent
        self.count = count
    }

    /// The event as JSON for a webhook's body.
    var json: JSONValue {
        var members: [Name: JSONValue] = ["name": .string(kind.rawValue), "channel": .string(channel.text)]
        members["user_id"] = userID.map { .string($0.text) }
        members["event"] = clientEvent.map { .string($0.name) }
        members["data"] = clientEvent.flatMap { event in
            event.data.flatMap { event.isValue ? try? JSONValue(parsing: $0) : .string($0) }
        }
        members["socket_id"] = clientEvent.map { .string($0.socketID) }
        members["subscription_count"] = count.map { .integer($0) }
        return .object(members)
    }

    /// The departure that this event cancels; `nil` if it isn't an arrival.
    var departureTakenBack: WebhookEvent? {
        switch kind {
        case .channelOccupied: WebhookEvent(.channelVacated, channel: channel)
        case .memberAdded: WebhookEvent(.memberRemoved, channel: channel, userID: userID)
        default: nil
        }
    }

    var isDeparture: Bool { kind == .channelVacated || kind == .memberRemoved }
}
