import Foundation

/// The events of a channel as one type, for those who publish them and those who read them.
///
/// ```swift
/// enum OrderEvent: ChannelEvents {
///     case placed(Order)
///     case moved(id: Int, to: String)
///     case closed
/// }
/// ```
///
/// An event's name is its case's, unless the enum's `CodingKeys` say another, as they must for `client-` events. Its data is the
/// case's value; an object of the values if they have labels; `{}` if there are none. The compiler writes the rest.
///
/// Use it with ``Pusher/updates(of:as:auth:buffering:)``, ``Pusher/follow(_:as:maximumAge:covers:loading:)``,
/// ``PusherHTTPAPI/publish(_:to:excluding:idempotencyKey:tags:)`` and ``PusherChannel/trigger(_:)``.
public protocol ChannelEvents: Codable, Sendable {}

/// An update of a channel whose events are one type. None of them ends the stream.
public enum TypedUpdate<Event: ChannelEvents>: Sendable {
    /// An event, and the message that it was read from.
    case event(Event, PusherEvent)
    /// An event whose name no case has, such as one of a later version.
    case unknown(PusherEvent)
    /// An event whose data isn't that of its case, and the error that decoding it threw.
    case undecodable(PusherEvent, any Error)
    /// Anything else that happens to the channel, such as a gap.
    case channel(ChannelUpdate)
}

extension ChannelUpdate {
    /// Returns the update with its event read as one of a type, for readers of a ``PusherPool``.
    public func typed<Event: ChannelEvents>(as type: Event.Type) -> TypedUpdate<Event> {
        if case .event(let event) = self { event.typed(as: type) } else { .channel(self) }
    }
}

extension PusherEvent {
    func typed<Event: ChannelEvents>(as type: Event.Type) -> TypedUpdate<Event> {
        do {
            return .event(try read(type), self)
        } catch {
            return isKnown(to: type) ? .undecodable(self, error) : .unknown(self)
        }
    }

    private func read<Event: ChannelEvents>(_ type: Event.Type) throws -> Event {
        guard envelope.hasData else { return try withoutData(type) }
        return try CaseName.current.withValue(eventName) { try decode(NamedCase<Event>.self).event }
    }

    /// Returns whether a case has the event's name. Its data may be anything, even no JSON.
    private func isKnown<Event: ChannelEvents>(to type: Event.Type) -> Bool {
        do {
            _ = try withoutData(type)
        } catch is UnknownCase {
            return false
        } catch {}
        return true
    }

    private func withoutData<Event: ChannelEvents>(_ type: Event.Type) throws -> Event {
        try CaseName.current.withValue(eventName) {
            try Array("null".utf8).withUnsafeBytes { try JSONTextDecoder.decode(NamedCase<Event>.self, from: $0).event }
        }
    }
}

/// The name of the event that is being decoded: an application's decoder can't be told by its user info, because it may be shared.
private enum CaseName {
    static let current = TaskLocal(wrappedValue: "")
}

private struct UnknownCase: Error {}

/// An event of the current name, whose data is what is decoded.
private struct NamedCase<Event: ChannelEvents>: Decodable {
    let event: Event

    init(from decoder: any Decoder) throws {
        event = try Event(from: CaseDecoder(name: CaseName.current.get(), data: decoder))
    }
}

// MARK: - Coding

// The compiler codes an enum as `{"placed":{"_0":…}}`: the outer container has the case, the inner one its values.

private func isWhole(_ key: some CodingKey) -> Bool { key.stringValue.hasBytes(of: "_0") }

private struct CaseDecoder: Decoder {
    let name: String
    let data: any Decoder
    var codingPath: [any CodingKey] { data.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { data.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        // The compiler's comparison takes two forms of a letter with an accent for the same.
        guard let key = Key(stringValue: name), key.stringValue.hasBytes(of: name) else { throw UnknownCase() }
        return KeyedDecodingContainer(CaseContainer(allKeys: [key], data: data, isWhole: { _ in true }))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try data.unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try data.singleValueContainer() }
}

/// The case, or its values.
private struct CaseContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let allKeys: [Key]
    let data: any Decoder
    /// Returns whether a key stands for the whole data.
    let isWhole: (Key) -> Bool
    var codingPath: [any CodingKey] { data.codingPath }

    private func members() throws -> KeyedDecodingContainer<Key> { try data.container(keyedBy: Key.self) }

    func contains(_ key: Key) -> Bool {
        do {
            return try isWhole(key) || members().contains(key)
        } catch {
            return false
        }
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        try isWhole(key) ? data.singleValueContainer().decodeNil() : members().decodeNil(forKey: key)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try isWhole(key) ? data.singleValueContainer().decode(type) : members().decode(type, forKey: key)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(CaseContainer<Nested>(allKeys: [], data: data, isWhole: { PusherChannels.isWhole($0) }))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try isWhole(key) ? data.unkeyedContainer() : members().nestedUnkeyedContainer(forKey: key)
    }

    func superDecoder() throws -> any Decoder { data }
    func superDecoder(forKey key: Key) throws -> any Decoder { try isWhole(key) ? data : members().superDecoder(forKey: key) }
}

extension JSONEncoder {
    /// Returns an event's name and its data as JSON; throws the encoder's errors, or one for a value that isn't a case of an enum.
    func encodeCase(_ event: some ChannelEvents) throws -> (name: String, data: Data) {
        let named = EncodedCase(event)
        let data = try encode(named)
        guard let name = named.name else { throw named.problem("has no name: it isn't a case of an enum") }
        return (name, data)
    }
}

/// Encodes the data of an event, and notes its name.
private final class EncodedCase: Encodable {
    private let event: any ChannelEvents
    private(set) var name: String?
    /// Indicates whether the data is one value, or members of an object; nil if there is none yet.
    var isWhole: Bool?
    /// Indicates whether the case has a value without a label.
    var isOptional = false

    init(_ event: some ChannelEvents) { self.event = event }

    func encode(to encoder: any Encoder) throws {
        try event.encode(to: CaseEncoder(event: self, data: encoder))
        guard isWhole == nil else { return }
        // The case's value is nil, or it has none.
        if isOptional {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        } else {
            _ = encoder.container(keyedBy: JSONCodingKey.self)
        }
    }

    func begin(_ key: some CodingKey) { name = name ?? key.stringValue }

    /// Notes that a value is written; nothing else may be if it is the whole data.
    func write(_ isWhole: Bool) throws {
        guard self.isWhole == nil || self.isWhole == false && !isWhole else {
            throw problem("has several values: all need labels, or be one value")
        }
        self.isWhole = isWhole
    }

    func problem(_ text: String) -> EncodingError {
        .invalidValue(event, .init(codingPath: [], debugDescription: "an event of \(type(of: event)) \(text)"))
    }
}

private struct CaseEncoder: Encoder {
    let event: EncodedCase
    let data: any Encoder
    var codingPath: [any CodingKey] { data.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { data.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(EncodedContainer<Key>(event: event, data: data, isOuter: true))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        event.isWhole = true
        return data.unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        event.isWhole = true
        return data.singleValueContainer()
    }
}

/// The case, or its values.
private struct EncodedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let event: EncodedCase
    let data: any Encoder
    let isOuter: Bool
    var codingPath: [any CodingKey] { data.codingPath }

    private var members: KeyedEncodingContainer<Key> { data.container(keyedBy: Key.self) }

    /// Returns whether a key stands for the whole data.
    private func note(_ key: Key) throws -> Bool {
        if isOuter { event.begin(key) }
        let isWhole = isOuter || isWhole(key)
        try event.write(isWhole)
        return isWhole
    }

    func encodeNil(forKey key: Key) throws { try encode(Never?.none, forKey: key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if try note(key) {
            var container = data.singleValueContainer()
            try container.encode(value)
        } else {
            var members = members
            try members.encode(value, forKey: key)
        }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        if isOuter { event.begin(key) }
        event.isOptional = Nested(stringValue: "_0") != nil
        return KeyedEncodingContainer(EncodedContainer<Nested>(event: event, data: data, isOuter: false))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { superEncoder(forKey: key).unkeyedContainer() }
    func superEncoder() -> any Encoder { data }

    func superEncoder(forKey key: Key) -> any Encoder {
        if isOuter { event.begin(key) }
        var members = members
        return isOuter ? data : members.superEncoder(forKey: key)
    }
}
