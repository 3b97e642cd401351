/// What is wrong with a text that should have been JSON.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    package let offset: Int
    package let problem: String

    package var description: String { "\(problem) at byte \(offset)" }
}

/// Walks over JSON text (RFC 8259) byte by byte, or eight at a time inside strings, without building anything.
///
/// Every inbound frame passes through here, so it allocates nothing and looks at each byte once.
struct JSONScanner {
    /// A string's bytes between its quotes.
    struct StringToken {
        let start: Int
        let end: Int
        let hasEscapes: Bool
    }

    /// Deeper nesting than this is refused: recursion must not be steered by a peer.
    static let maximumDepth = 128

    let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func fail(_ problem: String) -> JSONError {
        JSONError(offset: position, problem: problem)
    }

    /// The byte at the position, or 0 at the end (a NUL is legal nowhere in JSON text).
    var current: UInt8 {
        position < bytes.count ? bytes[position] : 0
    }

    mutating func advance(_ count: Int = 1) {
        position += count
    }

    mutating func skipWhitespace() {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    mutating func expect(_ byte: UInt8, _ problem: String) throws(JSONError) {
        guard current == byte else { throw fail(problem) }
        position += 1
    }

    /// Nothing but white space may follow a document.
    mutating func expectEnd() throws(JSONError) {
        skipWhitespace()
        guard position == bytes.count else { throw fail("text after the document") }
    }

    // MARK: Strings

    /// Reads a string, the position being at its opening quote.
    mutating func scanString() throws(JSONError) -> StringToken {
        try expect(UInt8(ascii: "\""), "expected a string")
        let start = position
        var hasEscapes = false
        while true {
            skipPlainBytes()
            guard position < bytes.count else { throw fail("unterminated string") }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let token = StringToken(start: start, end: position, hasEscapes: hasEscapes)
                position += 1
                return token
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try skipEscape()
            default:
                throw fail("control character in a string")
            }
        }
    }

    /// Moves to the next quote, backslash or control character, eight bytes at a time.
    mutating func skipPlainBytes() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while position + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found =
                (((quote &- ones) & ~quote)
                    | ((backslash &- ones) & ~backslash)
                    | ((word &- ones &* 0x20) & ~word)) & highs
            if found != 0 {
                position += found.trailingZeroBitCount / 8
                return
            }
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { return }
            position += 1
        }
    }

    private mutating func skipEscape() throws(JSONError) {
        position += 1
        switch current {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            guard position + 4 < bytes.count else { throw fail("incomplete escape") }
            for index in 1...4 where hexDigit(bytes[position + index]) == nil {
                throw fail("bad \\u escape")
            }
            position += 5
        default:
            throw fail("bad escape")
        }
    }

    // MARK: Values

    /// Passes over one value of any kind, checking that it is well formed.
    mutating func skipValue(depth: Int = 0) throws(JSONError) {
        switch current {
        case UInt8(ascii: "\""):
            _ = try scanString()
        case UInt8(ascii: "{"):
            try skipContainer(closedBy: UInt8(ascii: "}"), keyed: true, depth: depth)
        case UInt8(ascii: "["):
            try skipContainer(closedBy: UInt8(ascii: "]"), keyed: false, depth: depth)
        case UInt8(ascii: "t"):
            try skipWord("true")
        case UInt8(ascii: "f"):
            try skipWord("false")
        case UInt8(ascii: "n"):
            try skipWord("null")
        default:
            _ = try scanNumber()
        }
    }

    /// Reads an object, the position being at its brace: calls `body` at each member's value, which `body` has to pass over.
    @inline(__always)
    mutating func scanMembers(
        _ body: (_ key: StringToken, _ scanner: inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) {
        try expect(UInt8(ascii: "{"), "expected an object")
        skipWhitespace()
        if current == UInt8(ascii: "}") {
            position += 1
            return
        }
        while true {
            let key = try scanString()
            try skipColon()
            try body(key, &self)
            skipWhitespace()
            if current == UInt8(ascii: "}") {
                position += 1
                return
            }
            try expect(UInt8(ascii: ","), "expected a comma")
            skipWhitespace()
        }
    }

    private mutating func skipContainer(closedBy close: UInt8, keyed: Bool, depth: Int) throws(JSONError) {
        guard depth < Self.maximumDepth else { throw fail("nested too deeply") }
        position += 1
        skipWhitespace()
        if current == close {
            position += 1
            return
        }
        while true {
            if keyed { try skipKey() }
            try skipValue(depth: depth + 1)
            skipWhitespace()
            if current == close {
                position += 1
                return
            }
            try expect(UInt8(ascii: ","), "expected a comma")
            skipWhitespace()
        }
    }

    private mutating func skipKey() throws(JSONError) {
        _ = try scanString()
        try skipColon()
    }

    mutating func skipColon() throws(JSONError) {
        skipWhitespace()
        try expect(UInt8(ascii: ":"), "expected a colon")
        skipWhitespace()
    }

    mutating func skipWord(_ word: StaticString) throws(JSONError) {
        guard position + word.utf8CodeUnitCount <= bytes.count else { throw fail("expected a value") }
        for index in 0..<word.utf8CodeUnitCount where bytes[position + index] != word.utf8Start[index] {
            throw fail("expected a value")
        }
        position += word.utf8CodeUnitCount
    }

    /// Reads a number; tells whether it has no fraction and no exponent.
    mutating func scanNumber() throws(JSONError) -> (range: Range<Int>, isInteger: Bool) {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
        } else {
            try skipDigits("expected a value")
        }
        var isInteger = true
        if current == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try skipDigits("expected digits after the point")
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try skipDigits("expected an exponent")
        }
        return (start..<position, isInteger)
    }

    private mutating func skipDigits(_ problem: String) throws(JSONError) {
        let start = position
        while isDigit(current) { position += 1 }
        guard position > start else { throw fail(problem) }
    }
}

private func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
}

func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
