/// Information about a channel from the HTTP API. A property is nil if it wasn't requested or the server doesn't report it.
public struct PusherChannelInfo: Equatable, Sendable {
    /// An attribute that can be requested.
    public enum Attribute: String, Equatable, Sendable {
        /// The number of users in a presence channel.
        case userCount = "user_count"
        /// The number of subscribed connections; the app must have this enabled.
        case subscriptionCount = "subscription_count"
        /// The event that a cache channel keeps.
        case cache
    }

    /// The event that a cache channel keeps.
    public struct CachedEvent: Equatable, Sendable {
        /// The event's data. That of an encrypted channel is decrypted if one of ``PusherHTTPAPIOptions/encryptionMasterKeys``
        /// fits; otherwise it is as it was received.
        public let data: String
        /// The time for which the event is still kept, if the server reports it.
        public let timeToLive: Duration?
    }

    /// The channel's name.
    public let name: String
    /// Indicates whether the channel has subscribers.
    public let isOccupied: Bool?
    /// The number of users in the channel; only presence channels have any.
    public let userCount: Int?
    /// The number of subscribed connections.
    public let subscriptionCount: Int?
    /// The event that the channel keeps, if it keeps one.
    public let cachedEvent: CachedEvent?

    init(_ name: String, _ json: JSONValue?, decryptedWith keys: [EncryptionMasterKey]) {
        self.name = name
        isOccupied = json?["occupied"]?.boolValue
        userCount = json?["user_count"]?.integerValue
        subscriptionCount = json?["subscription_count"]?.integerValue
        cachedEvent = json?["cache"].flatMap { CachedEvent($0, of: name, decryptedWith: keys) }
    }
}

extension PusherChannelInfo.CachedEvent {
    fileprivate init?(_ json: JSONValue, of channel: String, decryptedWith keys: [EncryptionMasterKey]) {
        // Sockudo tells the whole message as a text, and Reverb as an object, in which a client event's data may be any value.
        let message = json["data"]?.stringValue.flatMap { try? JSONValue(parsing: $0) }
        let isWhole = message?["event"]?.stringValue != nil && message?["channel"]?.stringValue?.hasBytes(of: channel) == true
        guard let data = (isWhole ? message : json)?["data"], data != .null else { return nil }
        self.init(
            data: EncryptedEvent.readable(data.stringValue ?? data.text, of: channel, with: keys),
            timeToLive: json["ttl"]?.integerValue.map { .seconds($0) })
    }
}

extension [PusherChannelInfo.Attribute] {
    /// The `info` of a request; nil if nothing is requested.
    var parameter: String? {
        isEmpty ? nil : map(\.rawValue).joined(separator: ",")
    }
}
