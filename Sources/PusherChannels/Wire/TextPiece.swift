/// The location of a value in the bytes that were read, and the way its text is made from them.
struct TextPiece: Equatable, Sendable {
    enum Form: UInt8, Sendable {
        /// There is no such value, or it is null.
        case absent
        /// The content of a string, without escapes.
        case plain
        /// The content of a string, with escapes to be resolved.
        case escaped
        /// The JSON text of any other value.
        case raw
    }

    static let absent = TextPiece(start: 0, count: 0, form: .absent)

    // As few bytes as possible, as each event has three of these. No message is as large as 4 GiB.
    private let start: UInt32
    private let length: UInt32
    let form: Form

    init(start: Int, count: Int, form: Form) {
        self.start = UInt32(truncatingIfNeeded: start)
        length = UInt32(truncatingIfNeeded: count)
        self.form = form
    }

    var count: Int { Int(length) }

    /// Returns where the whole value is in the object that it was read from, with a string's quotes.
    func range(in object: TextPiece) -> Range<Int> {
        let quote = form == .raw ? 0 : 1
        let first = Int(start) - Int(object.start) - quote
        return first..<first + count + 2 * quote
    }

    /// Calls `body` with the text's UTF-8 bytes, or with none if there is no text.
    func withUTF8<Result>(in block: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try block.withUnsafeBytes { bytes in
            let raw = UnsafeRawBufferPointer(rebasing: bytes[Int(start)..<Int(start) + count])
            guard form == .escaped else { return try body(raw) }
            // A temporary allocation would cost more where the result's type isn't known.
            let target = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: raw.count)
            defer { target.deallocate() }
            return try body(UnsafeRawBufferPointer(start: target.baseAddress, count: resolveEscapes(of: raw, into: target)))
        }
    }

    /// Returns the text; nil if there is none.
    func text(in block: [UInt8]) -> String? {
        switch form {
        case .absent: nil
        case .escaped:
            block.withUnsafeBytes { bytes in
                let raw = UnsafeRawBufferPointer(rebasing: bytes[Int(start)..<Int(start) + count])
                return String(unsafeUninitializedCapacity: raw.count) { resolveEscapes(of: raw, into: $0) }
            }
        case .plain, .raw: withUTF8(in: block) { String(decoding: $0, as: UTF8.self) }
        }
    }
}
