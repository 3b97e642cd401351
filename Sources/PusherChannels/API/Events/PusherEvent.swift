import Foundation

/// An event that a server or another client sent.
///
/// It is a view of the bytes that were read: texts are made of them when they are asked for. To keep an event for long keeps up to 4 KiB
/// around it, or the event where that is larger.
public struct PusherEvent: Sendable {
    let envelope: Envelope
    /// The application's own; nil for the default.
    let decoder: EventDecoder?

    /// The event's name.
    public var eventName: String { envelope.event.text }

    /// The channel it was sent on; nil for events about the connection itself.
    public var channelName: String? { envelope.channel?.text }

    /// The event's data: the string as sent; if the server sent another JSON value, its raw text; nil if there was none. Made anew each
    /// time: keep it where you need it more than once, and use ``decode(_:)`` where you don't need the text.
    public var data: String? { envelope.data }

    /// On presence channels, the user id of the client that sent the event, as the server vouches for it.
    public var userId: String? { envelope.userID }

    /// Decodes ``data`` from JSON with the environment's decoder; the default does what a `JSONDecoder()` does, in less time.
    ///
    /// Throws what the decoder throws; where there is no data, `DecodingError.valueNotFound`. Text that is no JSON, as a backend sends it that
    /// publishes a string, is ``data``.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        guard envelope.hasData else {
            let context = DecodingError.Context(codingPath: [], debugDescription: "the event \(eventName) has no data")
            throw DecodingError.valueNotFound(type, context)
        }
        return try envelope.withData { bytes in
            if let decoder { return try decoder.make().decode(type, from: Data(bytes)) }
            return try JSONTextDecoder.decode(type, from: bytes)
        }
    }

    /// A top-level member of the event object as the server sent it; also one the SDK doesn't know.
    ///
    /// `event`, `channel` and `user_id` are strings; so is `data` where the server sent a string. It and others are what
    /// `JSONSerialization` makes of them.
    public func property(withKey key: String) -> Any? {
        switch Name(key) {
        case "event": eventName
        case "channel": channelName
        case "data" where envelope.isDataRaw: data.flatMap(Self.foundationValue)
        case "data": data
        case "user_id": userId
        case let name: envelope.extra?[name].flatMap(Self.foundationValue)
        }
    }

    private static func foundationValue(of text: String) -> Any? {
        do {
            return try JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
        } catch {
            return nil  // The text was checked when the frame was read; what JSONSerialization can't hold, nobody can be given.
        }
    }
}

extension PusherEvent: Equatable {
    /// Returns whether both say the same: name, channel, data, user id and the members that the protocol doesn't know.
    public static func == (left: PusherEvent, right: PusherEvent) -> Bool { left.envelope == right.envelope }
}

/// Makes the decoder that an application configured (``PusherEnvironment/jsonDecoder``).
final class EventDecoder: Sendable {
    let make: @Sendable () -> JSONDecoder

    init(_ make: @escaping @Sendable () -> JSONDecoder) {
        self.make = make
    }
}
