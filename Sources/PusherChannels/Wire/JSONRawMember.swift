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
        try expect(UInt8(ascii: "{"), "expected an object")
        skipWhitespace()
        var isFirst = true
        while current != UInt8(ascii: "}") {
            if !isFirst {
                try expect(UInt8(ascii: ","), "expected a comma")
                skipWhitespace()
            }
            isFirst = false
            let key = string(try scanString())
            try skipColon()
            let start = position
            try skipValue(depth: 1)
            if key == name { found = start..<position }
            skipWhitespace()
        }
        advance()
        try expectEnd()
        return found.map { text($0) }
    }
}
