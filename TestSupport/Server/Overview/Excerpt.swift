/// The beginning of a text that may be of any length.
package struct Excerpt: Encodable, Equatable, Sendable {
    let text: String
    /// The number of bytes that were left out.
    let rest: Int

    init(text: String, rest: Int) {
        self.text = text
        self.rest = rest
    }

    /// Creates an excerpt of as many whole Unicode scalars as fit into `limit` bytes of UTF-8.
    init(_ whole: String, upTo limit: Int) {
        let bytes = whole.utf8
        var end = bytes.index(bytes.startIndex, offsetBy: limit, limitedBy: bytes.endIndex) ?? bytes.endIndex
        while end > bytes.startIndex, end < bytes.endIndex, bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
        text = end == bytes.endIndex ? whole : String(whole[..<end])
        rest = bytes[end...].count
    }

    /// Creates an excerpt of a name, such as that of a channel. It is whole if its server allows it, unless it isn't ASCII.
    init(name: String) {
        self.init(name, upTo: 200)
    }
}
