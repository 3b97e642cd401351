/// A JSON document as a value, for the parts of the protocol that are not on the hot path.
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    /// Names that differ in their bytes are two members, even if Unicode considers them equivalent. If several members have the
    /// same name, the last one counts.
    case object([Name: JSONValue])

    package static func integer(_ integer: Int) -> JSONValue { .number(JSONNumber(integer)) }

    /// Returns the number; null for one that JSON can't write.
    package static func double(_ double: Double) -> JSONValue { JSONNumber(double).map { .number($0) } ?? .null }

    /// Creates an object from members with their names; if several have the same name, the last one counts.
    package init(members: some Sequence<(String, JSONValue)>) {
        self = .object(Dictionary(members.map { (Name($0.0), $0.1) }, uniquingKeysWith: { $1 }))
    }

    /// Parses a document.
    package init(parsing text: String) throws(JSONError) {
        var text = text
        let parsed = text.withUTF8 { utf8 in
            // A typed throw can't leave the closure.
            Result<JSONValue, JSONError> { () throws(JSONError) in try JSONValue(parsing: UnsafeRawBufferPointer(utf8)) }
        }
        self = try parsed.get()
    }

    /// Parses a document of UTF-8 bytes.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var scanner = JSONScanner(bytes)
        scanner.skipWhitespace()
        self = try scanner.parseValue()
        try scanner.expectEnd()
    }

    package subscript(key: Name) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    package subscript(key: String) -> JSONValue? { self[Name(key)] }

    package var stringValue: String? {
        guard case .string(let string) = self else { return nil }
        return string
    }

    /// An integer, or a string that holds one: not every server distinguishes the two.
    package var integerValue: Int? {
        switch self {
        case .string(let string): Int(string)
        case .number(let number): number.integer
        default: nil
        }
    }

    package var boolValue: Bool? {
        guard case .bool(let bool) = self else { return nil }
        return bool
    }

    package var arrayValue: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    package var objectValue: [Name: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// A string, or a number's text: servers send identifiers as either.
    package var identifier: String? {
        switch self {
        case .string(let string): string
        case .number(let number): number.text
        default: nil
        }
    }

    /// The compact JSON text, with the members in the order of their keys.
    package var text: String {
        var result: [UInt8] = []
        append(to: &result)
        return String(decoding: result, as: UTF8.self)
    }

    private func append(to result: inout [UInt8]) {
        switch self {
        case .null: result += "null".utf8
        case .bool(let bool): result += (bool ? "true" : "false").utf8
        case .number(let number): result += number.text.utf8
        case .string(let string): result.appendQuotedJSON(string)
        case .array(let elements):
            result.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { result.append(UInt8(ascii: ",")) }
                element.append(to: &result)
            }
            result.append(UInt8(ascii: "]"))
        case .object(let members):
            result.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { result.append(UInt8(ascii: ",")) }
                result.appendQuotedJSON(member.key.text)
                result.append(UInt8(ascii: ":"))
                member.value.append(to: &result)
            }
            result.append(UInt8(ascii: "}"))
        }
    }
}

/// There is no `nil` literal: if an optional value is expected, it could be taken for the value `null`.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (Name, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension JSONScanner {
    /// Reads one value of any kind.
    fileprivate mutating func parseValue(depth: Int = 0) throws(JSONError) -> JSONValue {
        switch current {
        case UInt8(ascii: "\""): return .string(string(try scanString()))
        case UInt8(ascii: "{"): return .object(try parseObject(depth: depth))
        case UInt8(ascii: "["): return .array(try parseArray(depth: depth))
        case UInt8(ascii: "t"):
            try skipWord("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try skipWord("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try skipWord("null")
            return .null
        default: return try parseNumber()
        }
    }

    private mutating func parseNumber() throws(JSONError) -> JSONValue {
        .number(JSONNumber(wellFormed: text(try scanNumber())))
    }

    private mutating func parseObject(depth: Int) throws(JSONError) -> [Name: JSONValue] {
        guard depth < Self.maximumDepth else { throw fail("nested too deeply") }
        var members: [Name: JSONValue] = [:]
        try scanMembers { (key, scanner) throws(JSONError) in
            members[scanner.name(key)] = try scanner.parseValue(depth: depth + 1)
        }
        return members
    }

    private mutating func parseArray(depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth < Self.maximumDepth else { throw fail("nested too deeply") }
        var elements: [JSONValue] = []
        try scanElements { scanner throws(JSONError) in elements.append(try scanner.parseValue(depth: depth + 1)) }
        return elements
    }
}
