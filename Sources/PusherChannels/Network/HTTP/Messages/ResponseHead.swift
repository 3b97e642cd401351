/// The head of an HTTP response: its status and its fields as they came.
struct ResponseHead: Sendable {
    let status: Int
    let fields: [(name: String, value: String)]
    /// 0 for HTTP/1.0; anything later counts as 1.
    let minorVersion: Int

    init(status: Int, fields: [(name: String, value: String)], minorVersion: Int = 1) {
        self.status = status
        self.fields = fields
        self.minorVersion = minorVersion
    }

    /// Returns whether there is a field with a name, even an empty one.
    func has(_ name: String) -> Bool {
        !contents(name).isEmpty
    }

    /// Returns the values of the fields with a name, without the white space around them.
    func contents(_ name: String) -> [String] { fields.contents(name) }

    /// Returns the elements in all fields with a name.
    func values(_ name: String) -> [String] { fields.values(name) }

    /// Returns a list's elements, without the white space around them and without empty ones.
    static func list(_ value: String) -> [String] {
        value.utf8.split(separator: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty }
    }

    /// Returns a text without the white space around it, which isn't part of a field's value (RFC 9110, 5.5).
    static func trimmed(_ text: some BidirectionalCollection<UInt8>) -> String {
        let start = text.drop(while: isSpace)
        return String(decoding: start.prefix(start.reversed().drop(while: isSpace).count), as: UTF8.self)
    }

    /// Returns whether a byte is white space. Line ends count, because not every HTTP client removes all of them.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }
}

extension Sequence where Element == (name: String, value: String) {
    /// Returns the values of the fields with a name, without the white space around them.
    package func contents(_ name: String) -> [String] {
        filter { $0.name.isSameWord(as: name) }.map { ResponseHead.trimmed($0.value.utf8) }
    }

    /// Returns the elements in all fields with a name (RFC 9110, 5.3 and 5.6.1), which are lists with commas between the values.
    package func values(_ name: String) -> [String] {
        contents(name).flatMap(ResponseHead.list)
    }
}
