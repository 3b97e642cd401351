import Foundation

/// An event from the server or another client.
///
/// An event is a view of the received bytes, and creates strings from them on demand. Keeping an event also keeps up to 1 KiB
/// around it, or the whole event if that is larger.
public struct PusherEvent: Sendable {
    let envelope: Envelope
    /// The application's decoder; nil for the default.
    let decoder: EventDecoder?

    /// The event's name.
    public var eventName: String { envelope.event.text }

    /// The channel the event was sent on; nil for events about the connection itself.
    public var channelName: String? { envelope.channel?.text }

    /// The event's data: the string as sent, the raw text of any other JSON value, or nil if there was none. The string is
    /// created on each access: store it if you need it more than once, and use ``decode(_:)`` if you don't need the text.
    public var data: String? { envelope.data }

    /// On presence channels, the user id of the client that sent the event, as verified by the server.
    public var userID: String? { envelope.userID }

    /// The event's place in its channel's stream, on a server that numbers events: a client with ``PusherClientOptions/protocol``
    /// `.sockudo` can go on there (``Pusher/updates(of:after:filter:buffering:)``). Nil on other servers. Read from the event on each access.
    public var position: StreamPosition? { envelope.position }

    /// Decodes ``data`` from JSON with the environment's decoder. The default decodes like a `JSONDecoder()`, but faster.
    ///
    /// Throws the decoder's errors, or `DecodingError.valueNotFound` if there is no data. Text that isn't JSON, such as a plain
    /// string that a backend published, is available as ``data``. A decoder of your own isn't given numbers of more than a hundred
    /// digits, at some of which Foundation ends the program.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        guard envelope.hasData else {
            let context = DecodingError.Context(codingPath: [], debugDescription: "the event \(eventName) has no data")
            throw DecodingError.valueNotFound(type, context)
        }
        return try envelope.withData { bytes in
            if let decoder { return try decoder.make().decode(type, fromReceived: bytes) }
            return try JSONTextDecoder.decode(type, from: bytes)
        }
    }

    /// Returns a top-level member of the event object as the server sent it, including members that the SDK doesn't know.
    ///
    /// `event`, `channel` and `user_id` are strings, and so is `data` if the server sent a string. Any other value is what
    /// `JSONSerialization` makes of it. Sockudo's protocol V2 has `message_id`, a string, `tags` and `extras`, dictionaries.
    public func property(withKey key: String) -> Any? {
        switch Name(key) {
        case "event": eventName
        case "channel": channelName
        case "data" where envelope.isDataRaw: data.flatMap(FoundationJSON.value)
        case "data": data
        case "user_id": userID
        case let name: envelope.extra?[name].flatMap(FoundationJSON.value)
        }
    }
}

extension PusherEvent {
    /// Creates an event, for a fake of your own in the place of a client.
    ///
    /// - Parameters:
    ///   - eventName: The event's name.
    ///   - channelName: The channel's name; nil for an event without a channel.
    ///   - data: The event's data, usually JSON text.
    ///   - userID: The user id of the client that sent it.
    public init(eventName: String, channelName: String? = nil, data: String? = nil, userID: String? = nil) {
        let envelope = Envelope(event: Name(eventName), channel: channelName.map { Name($0) }, data: data, userID: userID)
        self.init(envelope: envelope, decoder: nil)
    }
}

extension PusherEvent: Equatable {
    /// Returns whether both have the same name, channel, data, user id and members that the protocol doesn't know.
    public static func == (left: PusherEvent, right: PusherEvent) -> Bool { left.envelope == right.envelope }
}

/// Makes the decoder that an application configured (``PusherEnvironment/jsonDecoder``).
final class EventDecoder: Sendable {
    let make: @Sendable () -> JSONDecoder

    init(_ make: @escaping @Sendable () -> JSONDecoder) {
        self.make = make
    }
}
