/// A channel, as the HTTP API tells of it. Nil is what the server didn't say: it was not asked for, or the server doesn't tell it.
public struct PusherChannelInfo: Equatable, Sendable {
    /// An attribute that can be asked for.
    public enum Attribute: String, Equatable, Sendable {
        /// The number of users in a presence channel.
        case userCount = "user_count"
        /// The number of connections subscribed; the app must have this enabled.
        case subscriptionCount = "subscription_count"
        /// The event that a cache channel keeps.
        case cache
    }

    /// The event that a cache channel keeps.
    public struct CachedEvent: Equatable, Sendable {
        /// The event's data.
        public let data: String
        /// The time for which it is kept from now on, where the server says.
        public let timeToLive: Duration?
    }

    /// The channel.
    public let name: String
    /// Indicates whether somebody is subscribed to it.
    public let isOccupied: Bool?
    /// The number of users in it; only presence channels have any.
    public let userCount: Int?
    /// The number of connections subscribed to it.
    public let subscriptionCount: Int?
    /// The event that it keeps, if it keeps one.
    public let cachedEvent: CachedEvent?

    init(_ name: String, _ json: JSONValue?) {
        self.name = name
        isOccupied = json?["occupied"]?.boolValue
        userCount = json?["user_count"]?.integerValue
        subscriptionCount = json?["subscription_count"]?.integerValue
        cachedEvent = json?["cache"].flatMap(CachedEvent.init)
    }
}

extension PusherChannelInfo.CachedEvent {
    fileprivate init?(_ json: JSONValue) {
        guard let data = json["data"]?.stringValue else { return nil }
        self.init(data: data, timeToLive: json["ttl"]?.integerValue.map { .seconds($0) })
    }
}

extension [PusherChannelInfo.Attribute] {
    /// The `info` of a request; nil where nothing is asked for.
    var parameter: String? {
        isEmpty ? nil : map(\.rawValue).joined(separator: ",")
    }
}
