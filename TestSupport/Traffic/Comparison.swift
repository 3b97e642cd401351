import PusherChannels

/// Compares a file's values with the traffic's, at any depth.
struct Comparison {
    /// Indicates whether objects may only have the file's members.
    let isExact: Bool
    let patterns: Patterns

    typealias Field = TrafficMismatch.Field

    /// Returns the differences; none if `got` matches `expected`.
    func differences(_ expected: JSONValue, _ got: JSONValue, at path: String) -> [Field] {
        if let matcher = ValueMatcher.of(expected) { return differences(matcher, expected, got, at: path) }
        // A value that isn't there is no secret, and stays as it is.
        if expected == Self.hidden { return got == "" || got == .null ? [field(expected, got, at: path)] : [] }
        switch (expected, got) {
        case (.object(let expected), .object(let got)):
            return differences(members: expected, got, at: path)
        case (.array(let expected), .array(let got)):
            return differences(elements: expected, got, at: path)
        case (.string(let expected), _):
            return differences(text: expected, got, at: path)
        default:
            return expected == got ? [] : [field(expected, got, at: path)]
        }
    }

    // MARK: Objects and arrays

    func differences(
        members expected: [Name: JSONValue], _ got: [Name: JSONValue], at path: String, optional: Set<String> = []
    ) -> [Field] {
        var fields: [Field] = []
        for (name, expected) in expected.sorted(by: { $0.key < $1.key }) {
            let path = Self.path(path, name.text)
            if case .absent = ValueMatcher.of(expected) {
                if let got = got[name] { fields.append(field(expected, got, at: path)) }
            } else if let got = got[name] {
                fields += differences(expected, got, at: path)
            } else {
                fields.append(Field(path: path, expected: ValueMatcher.describe(expected), got: "nothing"))
            }
        }
        guard isExact else { return fields }
        for (name, got) in got.sorted(by: { $0.key < $1.key }) where expected[name] == nil && !optional.contains(name.text) {
            fields.append(Field(path: Self.path(path, name.text), expected: "nothing", got: ValueMatcher.show(got)))
        }
        return fields
    }

    private func differences(elements expected: [JSONValue], _ got: [JSONValue], at path: String) -> [Field] {
        var fields: [Field] = []
        for index in 0..<max(expected.count, got.count) {
            let path = "\(path)[\(index)]"
            if index >= got.count {
                fields.append(Field(path: path, expected: ValueMatcher.describe(expected[index]), got: "nothing"))
            } else if index >= expected.count {
                fields.append(Field(path: path, expected: "nothing", got: ValueMatcher.show(got[index])))
            } else {
                fields += differences(expected[index], got[index], at: path)
            }
        }
        return fields
    }

    private func differences(unordered expected: [JSONValue], _ got: JSONValue, at path: String) -> [Field] {
        guard let got = got.arrayValue else { return [field(["$unordered": .array(expected)], got, at: path)] }
        let pairs = Pairing.largest(expected.count, got.count) { differences(expected[$0], got[$1], at: path).isEmpty }
        let taken = Set(pairs.values)
        let missing = expected.indices.filter { pairs[$0] == nil }.map { index in
            Field(path: path, expected: "in any place \(ValueMatcher.describe(expected[index]))", got: "nothing like it")
        }
        let unexpected = got.indices.filter { !taken.contains($0) }.map { index in
            Field(path: "\(path)[\(index)]", expected: "nothing", got: ValueMatcher.show(got[index]))
        }
        return missing + unexpected
    }

    // MARK: Single values

    private static let hidden = JSONValue.string(Redaction.marker)

    private func differences(_ matcher: ValueMatcher, _ expected: JSONValue, _ got: JSONValue, at path: String) -> [Field] {
        switch matcher {
        case .any: return []
        case .absent: return [field(expected, got, at: path)]
        // A hidden value no longer has a type.
        case .type(let type): return got.typeName == type || got == Self.hidden ? [] : [field(expected, got, at: path)]
        case .unordered(let elements): return differences(unordered: elements, got, at: path)
        case .literal(let value):
            return got == value || LocalAddress.normalize(got) == value ? [] : [field(expected, got, at: path)]
        case .regex(let pattern):
            guard let text = Self.text(of: got) else { return [field(expected, got, at: path)] }
            return field(outcome(of: pattern, text, patterns.match), expected, got, at: path).map { [$0] } ?? []
        }
    }

    private func differences(text expected: String, _ got: JSONValue, at path: String) -> [Field] {
        guard let text = Self.text(of: got) else { return [field(.string(expected), got, at: path)] }
        return field(outcome(of: expected, text, patterns.matchPlain), .string(expected), got, at: path).map { [$0] } ?? []
    }

    /// Compares texts as they are, then without this machine's names and ports.
    private func outcome(
        of expected: String, _ text: String, _ match: (String, String) -> Patterns.Outcome
    ) -> Patterns.Outcome {
        let outcome = match(expected, text)
        guard outcome != .matches else { return outcome }
        let local = (expected: LocalAddress.normalize(expected), text: LocalAddress.normalize(text))
        guard local != (expected, text), match(local.expected, local.text) == .matches else { return outcome }
        return .matches
    }

    /// Returns the text of a value that a pattern can match.
    private static func text(of value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .number(let number): number.text
        case .null, .bool, .array, .object: nil
        }
    }

    // MARK: Describing

    private func field(_ outcome: Patterns.Outcome, _ expected: JSONValue, _ got: JSONValue, at path: String) -> Field? {
        switch outcome {
        case .matches: nil
        case .differs: field(expected, got, at: path)
        case .bad:
            field(expected, got, at: path, note: "the expected text can't be used as a pattern, so it stands for itself only")
        case .tooCostly: field(expected, got, at: path, note: "the pattern has too many ways to match; write it simpler")
        }
    }

    private func field(_ expected: JSONValue, _ got: JSONValue, at path: String, note: String? = nil) -> Field {
        var note = note
        if note == nil, case .string(let text) = got, expected.stringValue == nil, ValueMatcher.of(expected) == nil,
            expected.text == text
        {
            note = "the traffic has it as a text; in quotes, the file would as well"
        }
        return Field(path: path, expected: ValueMatcher.describe(expected), got: ValueMatcher.show(got), note: note)
    }

    /// Returns the path of a member, such as `body.items[2].name` or `body["two words"]`.
    static func path(_ path: String, _ name: String) -> String {
        let isPlain = !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || "_-$".contains($0) }
        guard isPlain else { return "\(path)[\(name.quotedJSON)]" }
        return path.isEmpty ? name : "\(path).\(name)"
    }
}
