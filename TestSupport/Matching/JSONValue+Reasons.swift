import PusherChannels

extension Matcher {
    /// Matches subjects whose document has at least the members of another.
    static func json(
        _ text: String, of part: String, _ document: @escaping @Sendable (Subject) -> JSONValue?
    ) -> Matcher {
        guard let expected = try? JSONValue(parsing: text) else {
            return Matcher("JSON \(part)", problem: "the matcher's own JSON can't be read: \(Redaction.standard.redact(text))")
        }
        return Matcher("JSON \(Redaction.standard.redact(expected).text)") { subject in
            guard let actual = document(subject) else { return Outcome(reasons: ["\(part) is no JSON"]) }
            return Outcome(reasons: expected.reasonsAgainst(actual, at: part))
        }
    }
}

/// Returns the differences between a JSON text, such as an event's data, and the expected JSON; empty if everything expected is
/// there. The order of keys, whitespace, and additional members don't count.
///
/// ```swift
/// #expect(differencesInJSON(event.data, from: #"{"id": 7}"#) == [])
/// ```
///
/// - Parameters:
///   - text: The text that was received; `nil` differs from everything.
///   - expected: A JSON document.
public func differencesInJSON(_ text: String?, from expected: String) -> [String] {
    guard let wanted = try? JSONValue(parsing: expected) else { return ["what is expected can't be read as JSON: \(expected)"] }
    guard let text, let actual = try? JSONValue(parsing: text) else { return ["data is no JSON"] }
    return wanted.reasonsAgainst(actual, at: "data")
}

extension JSONValue {
    /// Returns whether two texts are equal or are the same JSON.
    static func isSame(_ first: String?, _ second: String?) -> Bool {
        if first == second { return true }
        guard let first, let second, let one = try? JSONValue(parsing: first), let other = try? JSONValue(parsing: second) else {
            return false
        }
        return one.reasonsAgainst(other, at: "").isEmpty && other.reasonsAgainst(one, at: "").isEmpty
    }

    /// Returns the differences in another document; members that only the other document has don't count.
    func reasonsAgainst(_ actual: JSONValue, at path: String) -> [String] {
        switch (self, actual) {
        case (.object(let expected), .object(let members)):
            return expected.sorted { $0.key < $1.key }.flatMap { name, value in
                let path = "\(path).\(name)"
                return members[name].map { value.reasonsAgainst($0, at: path) } ?? ["\(path) is missing"]
            }
        case (.array(let expected), .array(let elements)):
            guard expected.count == elements.count else {
                return ["\(path) has \(elements.count) elements, not \(expected.count)"]
            }
            return zip(expected, elements).enumerated().flatMap { index, pair in
                pair.0.reasonsAgainst(pair.1, at: "\(path)[\(index)]")
            }
        default:
            guard self != actual else { return [] }
            // Everything inside a secret value is secret.
            let names = path.split { ".[]".contains($0) }.map(String.init)
            let name = names.first(where: Redaction.standard.isSecret) ?? path
            let (found, wanted) = (
                Redaction.standard.redact(actual.text, named: name), Redaction.standard.redact(text, named: name)
            )
            return ["\(path) is \(ValueMatcher.cut(found)), not \(ValueMatcher.cut(wanted))"]
        }
    }
}
