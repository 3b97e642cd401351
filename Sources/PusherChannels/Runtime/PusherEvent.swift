import Foundation

/// An event that a server or another client sent.
public struct PusherEvent: Sendable {
    let envelope: Envelope
    let makeDecoder: @Sendable () -> JSONDecoder

    /// The event's name.
    public var eventName: String { envelope.event }

    /// The channel it was sent on; nil for events about the connection itself.
    public var channelName: String? { envelope.channel }

    /// The event's data: the string as sent; if the server sent another JSON value, its raw text; nil if there was none.
    public var data: String? { envelope.data }

    /// On presence channels, the user id of the client that sent the event, as the server vouches for it.
    public var userId: String? { envelope.userID }

    /// Decodes ``data`` from JSON with the environment's decoder.
    ///
    /// Throws what the decoder throws; where there is no data, `DecodingError.valueNotFound`.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        guard let data else {
            let context = DecodingError.Context(codingPath: [], debugDescription: "the event \(eventName) has no data")
            throw DecodingError.valueNotFound(type, context)
        }
        return try makeDecoder().decode(type, from: Data(data.utf8))
    }

    /// A top-level member of the event object as the server sent it; also one the SDK doesn't know.
    ///
    /// `event`, `channel`, `data` and `user_id` are strings; others are what `JSONSerialization` makes of them.
    public func property(withKey key: String) -> Any? {
        switch key {
        case "event": eventName
        case "channel": channelName
        case "data": data
        case "user_id": userId
        default: envelope.extra?[key].flatMap(Self.foundationValue)
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
