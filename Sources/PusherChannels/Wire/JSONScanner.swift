/// The problem with a text that should have been JSON.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    package let offset: Int
    package let problem: String

    package var description: String { "\(problem) at byte \(offset)" }
}

/// A scanner that walks over JSON text (RFC 8259) byte by byte, or eight at a time inside strings, without building anything.
///
/// Every inbound frame passes through here, so it allocates nothing and looks at each byte once.
struct JSONScanner {
    /// A string's bytes between its quotes.
    struct StringToken {
        let start: Int
        let end: Int
        let hasEscapes: Bool
    }

    /// The deepest nesting that is accepted, as a peer must not control the recursion.
    static let maximumDepth = 128

    // Not as a buffer, whose address may be nil, which would be checked at each byte.
    private let start: UnsafeRawPointer
    private let count: Int
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        start = bytes.baseAddress ?? UnsafeRawPointer(("" as StaticString).utf8Start)
        count = bytes.count
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    func fail(_ problem: String) -> JSONError {
        JSONError(offset: position, problem: problem)
    }

    /// The byte at the position, or 0 at the end (a NUL is legal nowhere in JSON text).
    var current: UInt8 { byte(at: position) }

    private func byte(at offset: Int) -> UInt8 {
        offset < bytes.count ? bytes[offset] : 0
    }

    mutating func advance(_ count: Int = 1) {
        position &+= count  // The text ends long before it could overflow.
    }

    /// Passes a text if it is at the position; returns whether it is.
    @inline(__always)
    mutating func passes(_ text: StaticString) -> Bool {
        guard UnsafeRawBufferPointer(start: start + position, count: count - position).begins(with: text) else { return false }
        advance(text.utf8CodeUnitCount)
        return true
    }

    @inline(__always)
    mutating func skipWhitespace() {
        // Usually there is none.
        if position < bytes.count, bytes[position] <= 0x20 { skipSomeWhitespace() }
    }

    private mutating func skipSomeWhitespace() {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    @inline(__always)
    mutating func expect(_ byte: UInt8, _ problem: String) throws(JSONError) {
        guard current == byte else { throw fail(problem) }
        position += 1
    }

    /// Checks that only white space follows the document.
    mutating func expectEnd() throws(JSONError) {
        skipWhitespace()
        guard position == bytes.count else { throw fail("text after the document") }
    }

    // MARK: Strings

    /// Reads a string whose opening quote is at the position.
    mutating func scanString() throws(JSONError) -> StringToken {
        try expect(UInt8(ascii: "\""), "expected a string")
        let start = position
        // A local copy, which needn't be stored at each step.
        var end = start
        var hasEscapes = false
        while true {
            end = endOfPlainBytes(from: end)
            let byte = byte(at: end)
            if byte == UInt8(ascii: "\"") {
                position = end &+ 1
                return StringToken(start: start, end: end, hasEscapes: hasEscapes)
            }
            guard byte == UInt8(ascii: "\\") else {
                position = end
                throw fail(position < bytes.count ? "control character in a string" : "unterminated string")
            }
            hasEscapes = true
            // Data that is JSON in a string has mostly escapes of this kind.
            if self.byte(at: end &+ 1) == UInt8(ascii: "\"") {
                end &+= 2
            } else {
                position = end &+ 1
                try skipEscape()
                end = position
            }
        }
    }

    /// Moves to the next quote, backslash or control character.
    @inline(__always)
    mutating func skipPlainBytes() {
        position = endOfPlainBytes(from: position)
    }

    /// Returns the offset of the next quote, backslash or control character. Looks at eight bytes at a time.
    @inline(__always)
    private func endOfPlainBytes(from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var position = start
        while bytes.count &- position >= 8 {  // not a mutant: the last bytes are also looked at one by one
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            // Quotes and control characters are those that are less than 0x21 with their second bit inverted. Subtractions borrow
            // only from bytes that are found, so the first one is right.
            let found = (((word ^ ones &* 0x02) &- ones &* 0x21) | ((word ^ ones &* 0x5C) &- ones)) & ~word & (ones &* 0x80)
            if found != 0 { return position &+ found.trailingZeroBitCount / 8 }
            position &+= 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
            position &+= 1
        }
        return position
    }

    @inline(never)
    private mutating func skipEscape() throws(JSONError) {
        switch current {
        case UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            advance()
        default:
            try skipLongEscape()
        }
    }

    private mutating func skipLongEscape() throws(JSONError) {
        switch current {
        case UInt8(ascii: "u"):
            guard position + 4 < bytes.count else { throw fail("incomplete escape") }
            for index in 1...4 where bytes[position + index].hexadecimalValue == nil {
                throw fail("bad \\u escape")
            }
            position += 5
        default:
            throw fail("bad escape")
        }
    }
}
