import PusherChannels

/// A value in a file that stands for other values, such as `{"$type": "number"}`. A plain value stands for itself.
enum ValueMatcher {
    case regex(String)
    case any
    case type(String)
    case absent
    case unordered([JSONValue])
    /// The value as it stands, though it looks like a matcher. Traffic that looks like one is written this way.
    case literal(JSONValue)

    static let types = ["array", "bool", "null", "number", "object", "string"]
    private static let names: Set<String> = ["$regex", "$any", "$type", "$absent", "$unordered", "$literal"]

    /// The problem with a matcher.
    struct Misuse: Error {
        let problem: String
    }

    /// Creates the matcher that a value stands for; `nil` if the value isn't a matcher.
    init?(_ value: JSONValue) throws(Misuse) {
        guard let members = value.objectValue, members.count == 1, let (name, operand) = members.first else { return nil }
        switch (name, operand) {
        case ("$regex", .string(let pattern)): self = .regex(pattern)
        case ("$any", .bool(true)): self = .any
        case ("$absent", .bool(true)): self = .absent
        case ("$type", .string(let type)) where Self.types.contains(type): self = .type(type)
        case ("$unordered", .array(let elements)): self = .unordered(elements)
        case ("$literal", let value): self = .literal(value)
        case ("$regex", _): throw Misuse(problem: "$regex takes a text")
        case ("$any", _), ("$absent", _): throw Misuse(problem: "\(name) takes true")
        case ("$type", _): throw Misuse(problem: "$type takes one of \(Self.types.joined(separator: ", "))")
        case ("$unordered", _): throw Misuse(problem: "$unordered takes an array")
        default: return nil
        }
    }

    /// Returns the matcher of a value in a checked file.
    static func of(_ value: JSONValue) -> ValueMatcher? {
        (try? ValueMatcher(value)) ?? nil
    }

    /// Returns whether a matcher reveals nothing, so that it may stand in the place of a secret.
    static func isHarmless(_ value: JSONValue) -> Bool {
        switch of(value) {
        case .any, .type, .absent: true
        case .regex, .unordered, .literal, nil: false
        }
    }

    /// Returns a value of the traffic in a form that stands for the value itself when it is read from a file.
    ///
    /// - Parameter name: The name of the value's member. Some members are read as plain texts, and stay as they are.
    static func escape(_ value: JSONValue, of name: Name? = nil) -> JSONValue {
        switch value {
        case .null, .bool, .number:
            return value
        case .string(let text):
            let isText = name.map { textNames.contains($0.text) } ?? false
            return !isText && standsForOthers(text) ? ["$literal": value] : value
        case .array(let elements):
            return .array(elements.map { escape($0) })
        case .object(let members):
            if members.count == 1, let name = members.keys.first, names.contains(name.text) { return ["$literal": value] }
            // A subscription's data names its channel.
            let isData = name == "data"
            return .object(
                Dictionary(uniqueKeysWithValues: members.map { ($0, escape($1, of: isData && $0 == "channel" ? $0 : nil)) }))
        }
    }

    /// The members that identify an entry.
    private static let textNames: Set<String> = ["url", "method", "frame", "event", "channel"]

    /// Returns whether a text in a file would be taken for a pattern that matches other texts, too. A dot alone counts in amounts
    /// and versions, where a digit may come to stand in its place; nearly every other text has one.
    private static func standsForOthers(_ text: String) -> Bool {
        if text.wholeMatch(of: #/[-+]?[0-9]+(\.[0-9]+)+/#) != nil { return true }
        return text.contains { #"[](){}*+?|^$\"#.contains($0) } && !text.contains(Redaction.marker) && Patterns().isPattern(text)
    }

    /// Returns a description of an expected value, for people.
    static func describe(_ expected: JSONValue) -> String {
        switch of(expected) {
        case .regex(let pattern): "text that matches \(pattern.quotedJSON)"
        case .any: "anything"
        case .type(let type): type == "array" || type == "object" ? "an \(type)" : type == "null" ? type : "a \(type)"
        case .absent: "nothing"
        case .unordered(let elements): "in any order \(show(.array(elements)))"
        case .literal(let value): show(value)
        case nil: show(expected)
        }
    }

    /// Returns a value on one line, truncated if it is long.
    static func show(_ value: JSONValue) -> String { cut(value.text) }

    /// Returns a text, truncated if it is long.
    static func cut(_ text: String) -> String {
        text.count > 300 ? "\(text.prefix(300))… (\(text.count) characters)" : text
    }
}

extension JSONValue {
    /// The name of the value's type, as in `$type`.
    var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
