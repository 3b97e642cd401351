import PusherChannels

extension JSONValue {
    /// The value as text over several lines, with members sorted by key, so that the same value always gives the same text.
    var prettyText: String {
        var result = ""
        appendPretty(to: &result, indentation: "")
        return result
    }

    private func appendPretty(to result: inout String, indentation: String) {
        let inner = indentation + "  "
        switch self {
        case .array(let elements) where !elements.isEmpty:
            result += "["
            for (index, element) in elements.enumerated() {
                result += index > 0 ? ",\n\(inner)" : "\n\(inner)"
                element.appendPretty(to: &result, indentation: inner)
            }
            result += "\n\(indentation)]"
        case .object(let members) where !members.isEmpty:
            result += "{"
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                result += index > 0 ? ",\n\(inner)" : "\n\(inner)"
                result += "\(member.key.text.quotedJSON): "
                member.value.appendPretty(to: &result, indentation: inner)
            }
            result += "\n\(indentation)}"
        case .null, .bool, .number, .string, .array, .object:
            result += text
        }
    }

    /// Creates the value of a text that holds a JSON object or array; `nil` for any other text.
    init?(container text: String) {
        guard let first = text.utf8.first(where: { !" \t\r\n".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let value = try? JSONValue(parsing: text)
        else { return nil }
        self = value
    }
}
