/// A place in borrowed bytes: what was fed and how far it was read.
struct ByteCursor {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The number of bytes that were not read yet.
    var remaining: Int { bytes.count - position }

    /// Reads a byte.
    mutating func next() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads as many bytes as there are, at most `count`; they stay where they lie.
    mutating func take(upTo count: Int) -> UnsafeRawBufferPointer {
        let end = position + min(count, remaining)
        defer { position = end }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<end])
    }
}
