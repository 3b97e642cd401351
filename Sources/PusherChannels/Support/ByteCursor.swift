/// A position in borrowed bytes: the bytes, and how far they were read.
package struct ByteCursor {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The number of bytes that have not been read yet.
    package var remaining: Int { bytes.count - position }

    /// Reads a byte.
    package mutating func next() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads at most `count` bytes, or as many as there are, without copying them.
    package mutating func take(upTo count: Int) -> UnsafeRawBufferPointer {
        let end = position + min(count, remaining)
        defer { position = end }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<end])
    }
}
