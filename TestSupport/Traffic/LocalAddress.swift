import PusherChannels

/// The addresses of this machine. A test's server has another port each time, so texts that differ only in the port count as
/// equal.
enum LocalAddress {
    private static let names = ["localhost", "127.0.0.1", "[::1]"]

    /// Returns a text with `localhost` in place of this machine's names and their ports, in addresses and in texts that are
    /// nothing but a host, such as a `Host` field.
    static func normalize(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let host = names.compactMap({ rest.firstRange(of: $0) }).min(by: { $0.lowerBound < $1.lowerBound }) {
            result += rest[..<host.lowerBound]
            let end = endOfPort(in: rest, from: host.upperBound)
            result += isHost(result, before: rest[end...]) ? "localhost" : rest[host.lowerBound..<end]
            rest = rest[end...]
        }
        return result + rest
    }

    /// Returns a value with all of its texts normalized.
    static func normalize(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .number: value
        case .string(let text): .string(normalize(text))
        case .array(let elements): .array(elements.map(normalize))
        case .object(let members): .object(members.mapValues(normalize))
        }
    }

    private static func endOfPort(in text: Substring, from colon: Substring.Index) -> Substring.Index {
        let port = text[colon...]
        let digits = port.dropFirst().prefix { $0.isASCII && $0.isNumber }
        return port.first == ":" && !digits.isEmpty ? digits.endIndex : colon
    }

    /// Returns whether a name is in the place of an address's host, and isn't the beginning of a longer name.
    private static func isHost(_ before: String, before rest: Substring) -> Bool {
        let isAtStart = before.isEmpty || before.hasSuffix("://") || before.hasSuffix("@")
        guard let next = rest.first else { return isAtStart }
        return isAtStart && (before.isEmpty ? next == "/" : !next.isLetter && !next.isNumber && !"-._:@".contains(next))
    }
}
