/// The text of a JSON value as it was sent, which is known to be well formed: what it says is found out when somebody asks.
///
/// A value of it would cost many times what its length costs, and most of them nobody looks at.
package struct JSONText: Sendable {
    /// The text, without white space around it.
    let text: String

    /// Takes a text that was read before.
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
    /// Returns whether both say the same, however they are written.
    package static func == (left: JSONText, right: JSONText) -> Bool {
        left.text.hasBytes(of: right.text) || left.value == right.value
    }
}

/// A member of a JSON object as its text stands in the document; `nil` when there is none or the text is no object.
///
/// Of several members with one name the last counts, as in ``JSONValue``.
package func rawJSONMember(_ name: String, of text: String) -> String? {
    var text = text
    return text.withUTF8 { utf8 in
        var scanner = JSONScanner(UnsafeRawBufferPointer(utf8))
        return try? scanner.rawMember(name)
    }
}

extension String {
    /// The text of a body, without the mark that some editors put in front of UTF-8: readers of JSON may pass over it (RFC 8259, 8.1), and
    /// browsers do.
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
