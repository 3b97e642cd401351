import PusherChannels

/// The addresses of this machine. A test's server has another port each time: what is the same but for that is the same.
enum LocalAddress {
    private static let names = ["localhost", "127.0.0.1", "[::1]"]

    /// Returns a text with `localhost` in the place of this machine's names and their ports, in addresses and where it is nothing else, as
    /// in a `Host` field.
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

    /// Returns a value all of whose texts are normalized.
    static func normalize(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .integer, .double: value
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

    /// Returns whether a name stands where addresses have their host, and isn't the beginning of a longer one.
    private static func isHost(_ before: String, before rest: Substring) -> Bool {
        let isAtStart = before.isEmpty || before.hasSuffix("://") || before.hasSuffix("@")
        guard let next = rest.first else { return isAtStart }
        return isAtStart && (before.isEmpty ? next == "/" : !next.isLetter && !next.isNumber && !"-._:@".contains(next))
    }
}
