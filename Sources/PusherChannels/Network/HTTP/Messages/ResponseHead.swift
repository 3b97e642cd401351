/// An HTTP response's head: its status and its fields as they came.
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

    /// Returns whether there is such a field, even an empty one.
    func has(_ name: String) -> Bool {
        !contents(name).isEmpty
    }

    /// The values of the fields of a name, without the white space around it.
    func contents(_ name: String) -> [String] {
        fields.filter { $0.name.isSameWord(as: name) }.map { Self.trimmed($0.value.utf8[...]) }
    }

    /// The elements in all fields of a name (RFC 9110, 5.3 and 5.6.1): lists of values with commas between them.
    func values(_ name: String) -> [String] {
        contents(name).flatMap(Self.list)
    }

    /// A list's elements without the white space around them; empty ones don't count.
    static func list(_ value: String) -> [String] {
        value.utf8.split(separator: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        let start = text.drop(while: isSpace)
        return String(decoding: start.prefix(start.reversed().drop(while: isSpace).count), as: UTF8.self)
    }

    /// Line ends among them: not every HTTP client takes all of them away.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }
}
