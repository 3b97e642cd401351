import PusherChannels

/// A text message that a client sent through a ``MockWebSocket``.
public struct SentFrame: Equatable, Sendable, CustomStringConvertible {
    /// The message as sent.
    public let text: String
    /// The attempt it was sent in.
    public let attempt: ConnectionAttempt

    /// The `event` member; `nil` if the text isn't a JSON object or has none.
    public var event: String? { json?["event"]?.stringValue }

    /// The channel the message is about: the `channel` member, or the one in `data` in a subscribe or unsubscribe message.
    public var channel: String? { json?["channel"]?.stringValue ?? json?["data"]?["channel"]?.stringValue }

    /// The text of the `data` member as it stands in the message.
    public var data: String? { rawJSONMember("data", of: text) }

    /// Returns a string inside `data`, such as `auth` or `channel_data`.
    public func dataString(_ name: String) -> String? { json?["data"]?[name]?.stringValue }

    /// The message as a JSON value; `nil` if it isn't JSON.
    package var json: JSONValue? { try? JSONValue(parsing: text) }

    /// Indicates whether the SDK sends this by itself, such as a subscription.
    var isOfProtocol: Bool { event.map { Name($0).begins(with: "pusher:") } == true }

    /// The event and the channel, or the text if there is no event.
    var summary: String { event.map { [$0, channel].compactMap(\.self).joined(separator: " ") } ?? text }

    /// The text.
    public var description: String { text }
}
