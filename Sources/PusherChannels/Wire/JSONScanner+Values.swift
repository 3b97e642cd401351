/// Methods that skip values, or read what is in them.
extension JSONScanner {
    /// Skips one value of any kind, checking that it is well formed.
    ///
    /// It works without recursion, as most skipped values are a few bytes long. The open containers are the bits of a number.
    mutating func skipValue(depth: Int = 0) throws(JSONError) {
        var level = depth
        var open = OpenContainers()
        while true {
            if try beginValue(&open, at: level) {
                level += 1
                continue
            }
            while true {
                if level == depth { return }
                skipWhitespace()
                let isKeyed = open.isKeyed
                if current != (isKeyed ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    try expect(UInt8(ascii: ","), "expected a comma")
                    skipWhitespace()
                    if isKeyed { try skipKey() }
                    break
                }
                advance()
                open.removeLast()
                level -= 1
            }
        }
    }

    /// Skips a value, or the beginning of a container that isn't empty; returns whether it was such a container.
    @inline(__always)
    private mutating func beginValue(_ open: inout OpenContainers, at level: Int) throws(JSONError) -> Bool {
        switch current {
        case UInt8(ascii: "1")...UInt8(ascii: "9"):
            if !passesDigits() { _ = try scanNumber() }
        case UInt8(ascii: "0"), UInt8(ascii: "-"):
            _ = try scanNumber()
        case UInt8(ascii: "\""):
            _ = try scanString()
        case UInt8(ascii: "{"):
            return try beginContainer(&open, closedBy: UInt8(ascii: "}"), keyed: true, level: level)
        case UInt8(ascii: "["):
            return try beginContainer(&open, closedBy: UInt8(ascii: "]"), keyed: false, level: level)
        case UInt8(ascii: "t"):
            try skipWord("true")
        case UInt8(ascii: "f"):
            try skipWord("false")
        case UInt8(ascii: "n"):
            try skipWord("null")
        default:
            throw fail("expected a value")
        }
        return false
    }

    private mutating func beginContainer(
        _ open: inout OpenContainers, closedBy close: UInt8, keyed: Bool, level: Int
    ) throws(JSONError) -> Bool {
        guard level < Self.maximumDepth else { throw fail("nested too deeply") }
        advance()
        skipWhitespace()
        if current == close {
            advance()
            return false
        }
        open.append(keyed: keyed)
        if keyed { try skipKey() }
        return true
    }

    /// The kinds of the containers around a position: a set bit is an object, and the innermost container is in the lowest bit.
    private struct OpenContainers {
        // As many bits as the maximum depth of a document.
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        var isKeyed: Bool { low & 1 != 0 }

        mutating func append(keyed: Bool) {
            high = high << 1 | low >> 63
            low = low << 1 | (keyed ? 1 : 0)
        }

        mutating func removeLast() {
            low = low >> 1 | high << 63
            high >>= 1
        }
    }

    /// Reads an object whose brace is at the position. Calls `body` at each member's value, which `body` has to skip.
    @inline(__always)
    mutating func scanMembers(
        _ body: (_ key: StringToken, _ scanner: inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard current == UInt8(ascii: "{") else { throw fail("expected an object") }
        try scanContents(closedBy: UInt8(ascii: "}")) { scanner throws(JSONError) in
            let key = try scanner.scanString()
            try scanner.skipColon()
            try body(key, &scanner)
        }
    }

    /// Reads an array whose bracket is at the position. Calls `body` at each element, which `body` has to skip.
    @inline(__always)
    mutating func scanElements(_ body: (_ scanner: inout JSONScanner) throws(JSONError) -> Void) throws(JSONError) {
        guard current == UInt8(ascii: "[") else { throw fail("expected an array") }
        try scanContents(closedBy: UInt8(ascii: "]"), body)
    }

    /// Reads a container whose bracket or brace is at the position. Calls `body` at each element or member, which `body` has to
    /// skip.
    @inline(__always)
    mutating func scanContents(
        closedBy close: UInt8, _ body: (_ scanner: inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) {
        advance()
        skipWhitespace()
        if current == close {
            advance()
            return
        }
        while true {
            try body(&self)
            skipWhitespace()
            if current == close {
                advance()
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
        advance(word.utf8CodeUnitCount)
    }

    /// Skips a number that consists only of digits, as most do; returns false and skips nothing if it doesn't.
    @inline(__always)
    private mutating func passesDigits() -> Bool {
        let start = position
        guard current != UInt8(ascii: "0") else { return false }
        while isDigit(current) { advance() }
        let isMore = current == UInt8(ascii: ".") || current | 0x20 == UInt8(ascii: "e")
        if position > start, !isMore { return true }
        advance(start - position)
        return false
    }

    /// Reads a number.
    mutating func scanNumber() throws(JSONError) -> Range<Int> {
        let start = position
        if passesDigits() { return start..<position }
        if current == UInt8(ascii: "-") { advance() }
        if current == UInt8(ascii: "0") {
            advance()
        } else {
            try skipDigits("expected a value")
        }
        if current == UInt8(ascii: ".") {
            advance()
            try skipDigits("expected digits after the point")
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            advance()
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { advance() }
            try skipDigits("expected an exponent")
        }
        return start..<position
    }

    private mutating func skipDigits(_ problem: String) throws(JSONError) {
        let start = position
        while isDigit(current) { advance() }
        guard position > start else { throw fail(problem) }
    }
}

private func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
}
