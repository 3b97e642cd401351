import Foundation

/// A member of a presence channel: a user, however many connections they have.
public struct PusherPresenceChannelMember: Sendable, Hashable {
    /// The id that the application's server gave the user.
    public let userID: String

    let info: JSONText?

    /// The application's data about the user, as `JSONSerialization` objects; nil if there is none, or one that it can't
    /// represent, such as a number of more than 100 digits.
    public var userInfo: Any? { info.flatMap { FoundationJSON.value(of: $0.text) } }

    /// Creates a member, for ``PusherConnection/userDataFetcher``.
    ///
    /// `userInfo` must be a value that `JSONSerialization` accepts; anything else is left out, and so is null.
    public init(userID: String, userInfo: Any? = nil) {
        self.userID = userID
        let info = userInfo.flatMap(JSONValue.init(foundationValue:))
        self.info = info == .null ? nil : info.map { JSONText($0) }
    }

    /// Returns whether both have the same user id and the same data about the user.
    public static func == (left: PusherPresenceChannelMember, right: PusherPresenceChannelMember) -> Bool {
        left.userID.hasBytes(of: right.userID) && left.info == right.info
    }

    /// Hashes the user id.
    public func hash(into hasher: inout Hasher) { hasher.combine(Name(userID)) }

    init(_ member: PresenceMember) {
        userID = member.userID.text
        info = member.info
    }

    /// Decodes the application's data about the user, by default as a `JSONDecoder()` does; throws the decoder's errors.
    public func decodeUserInfo<Info: Decodable>(
        as type: Info.Type = Info.self, with decoder: JSONDecoder? = nil
    ) throws -> Info {
        let text = Array((info?.text ?? "null").utf8)
        if let decoder { return try decoder.decode(type, fromReceived: text) }
        return try text.withUnsafeBytes { try JSONTextDecoder.decode(type, from: $0) }
    }

    /// The member as a presence channel's `channel_data`. If nothing is known about the user, `user_info` is empty: without it,
    /// Reverb refuses this member and everybody who comes after.
    var channelData: JSONValue { ["user_id": .string(userID), "user_info": info?.value ?? [:]] }
}

extension JSONValue {
    /// Creates a JSON value; nil if the value isn't JSON.
    init?(foundationValue value: Any) {
        guard let data = Data(json: value) else { return nil }
        do {
            try self.init(parsing: String(decoding: data, as: UTF8.self))
        } catch {
            return nil
        }
    }
}

extension Data {
    /// Creates the JSON of a value that `JSONSerialization` accepts, with numbers as they are; nil for any other value.
    init?(json value: Any) {
        guard JSONSerialization.isValidJSONObject([value]) else { return nil }
        do {
            // In an array, as it refuses an optional that is nil anywhere else.
            let array = try JSONSerialization.data(withJSONObject: [value], options: [.sortedKeys, .withoutEscapingSlashes])
            self = array.dropFirst().dropLast()
        } catch {
            return nil
        }
    }
}
