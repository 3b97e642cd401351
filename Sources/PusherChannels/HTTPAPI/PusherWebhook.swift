import Foundation

/// A verified webhook: the server's report to an app's backend of what happened on the app's channels.
public struct PusherWebhook: Equatable, Sendable {
    /// The time at which the server made it.
    public let time: Date
    /// The notifications of what happened, in order.
    public let events: [Event]

    /// A notification of something that happened.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Event: Equatable, Sendable {
        /// The first connection subscribed to a channel.
        case channelOccupied(channel: String)
        /// The last connection left a channel.
        case channelVacated(channel: String)
        /// A user joined a presence channel, with the first of their connections.
        case memberAdded(channel: String, userID: String)
        /// A user left a presence channel, with the last of their connections.
        case memberRemoved(channel: String, userID: String)
        /// A client sent an event to the others on its channel.
        case clientEvent(ClientEvent)
        /// A client subscribed to a cache channel that is empty: now is the time to publish to it.
        case cacheMiss(channel: String)
        /// The number of connections subscribed to a channel, when it has changed.
        case subscriptionCount(channel: String, count: Int)
        /// Any other notification, or one of these with a member missing: its name, and all of it as JSON. If its data is nested
        /// more than 128 levels deep, which any client can send, the name is empty.
        case other(name: String, json: String)
    }

    /// An event that a client sent to the others on its channel.
    public struct ClientEvent: Equatable, Sendable {
        /// The channel.
        public let channel: String
        /// The event's name, which begins with `client-`.
        public let eventName: String
        /// The event's data, decrypted if the channel is encrypted and one of the keys fits, otherwise as received; nil for none.
        public let data: String?
        /// The connection that sent the event.
        public let socketID: String?
        /// The user who sent the event, on presence channels.
        public let userID: String?
    }
}

extension PusherWebhook {
    /// Reads the body of a webhook; nil if it isn't one.
    init?(_ text: String, opening keys: [EncryptionMasterKey]) {
        guard let body = WebhookBody(text), let seconds = body.time, let texts = body.events else { return nil }
        time = Date(timeIntervalSince1970: seconds)
        events = texts.map { Event($0, opening: keys) }
    }
}

extension PusherWebhook.Event {
    fileprivate init(_ text: String, opening keys: [EncryptionMasterKey]) {
        // If it is nested too deeply, only its text is known.
        let json = (try? JSONValue(parsing: text)) ?? .null
        let name = json["name"]?.stringValue ?? ""
        self = Self.known(name, json, text, opening: keys) ?? .other(name: name, json: text)
    }

    private static func known(
        _ name: String, _ json: JSONValue, _ text: String, opening keys: [EncryptionMasterKey]
    ) -> Self? {
        guard let channel = json["channel"]?.stringValue else { return nil }
        let userID = json["user_id"]?.identifier
        return switch Name(name) {
        case "channel_occupied": .channelOccupied(channel: channel)
        case "channel_vacated": .channelVacated(channel: channel)
        case "member_added": userID.map { .memberAdded(channel: channel, userID: $0) }
        case "member_removed": userID.map { .memberRemoved(channel: channel, userID: $0) }
        case "client_event": PusherWebhook.ClientEvent(json, text, on: channel, opening: keys).map { .clientEvent($0) }
        case "cache_miss": .cacheMiss(channel: channel)
        case "subscription_count":
            json["subscription_count"]?.integerValue.map { .subscriptionCount(channel: channel, count: $0) }
        default: nil
        }
    }
}

extension PusherWebhook.ClientEvent {
    fileprivate init?(_ json: JSONValue, _ text: String, on channel: String, opening keys: [EncryptionMasterKey]) {
        guard let eventName = json["event"]?.stringValue else { return nil }
        let data = json["data"] == .null ? nil : json["data"]?.stringValue ?? rawJSONMember("data", of: text)
        self.init(
            channel: channel, eventName: eventName,
            data: data.map { EncryptedEvent.readable($0, of: channel, with: keys) },
            socketID: json["socket_id"]?.stringValue, userID: json["user_id"]?.identifier)
    }
}
