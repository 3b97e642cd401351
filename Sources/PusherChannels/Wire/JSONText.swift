/// The text of a JSON value as it was sent. It is known to be well formed, and is parsed only on request.
///
/// A parsed value would cost many times as much as the text, and most of them are never looked at.
package struct JSONText: Sendable {
    /// The text, without white space around it.
    let text: String

    /// Creates a value from a text that was read before.
    init(wellFormed text: String) {
        self.text = text
    }

    package init(_ value: JSONValue) {
        text = value.text
    }

    /// The value of the text.
    package var value: JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: text)
        } catch {
            return .null  // It was well formed when it was read.
        }
    }
}

extension JSONText: Equatable {
    /// Returns whether both have the same value, however they are written.
    package static func == (left: JSONText, right: JSONText) -> Bool {
        left.text.hasBytes(of: right.text) || left.value == right.value
    }
}

/// Returns a member of a JSON object as raw text; `nil` if there is no such member or the text isn't an object.
///
/// If several members have the same name, the last one counts, as in ``JSONValue``.
package func rawJSONMember(_ name: String, of text: String) -> String? {
    var text = text
    return text.withUTF8 { utf8 in
        var scanner = JSONScanner(UnsafeRawBufferPointer(utf8))
        return try? scanner.rawMember(name)
    }
}

extension String {
    /// Creates the text of a body, without the byte order mark that some editors put in front of UTF-8. JSON parsers may ignore
    /// it (RFC 8259, 8.1), and browsers do.
    init(decodingWithoutMark bytes: some Collection<UInt8>) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        self.init(decoding: bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...], as: UTF8.self)
    }
}

extension JSONScanner {
    fileprivate mutating func rawMember(_ name: String) throws(JSONError) -> String? {
        var found: Range<Int>?
        skipWhitespace()
        try scanMembers { (key, scanner) throws(JSONError) in
            let start = scanner.position
            try scanner.skipValue(depth: 1)
            if scanner.string(key).hasBytes(of: name) { found = start..<scanner.position }
        }
        try expectEnd()
        return found.map { text($0) }
    }
}
