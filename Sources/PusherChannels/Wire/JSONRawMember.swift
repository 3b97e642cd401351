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
