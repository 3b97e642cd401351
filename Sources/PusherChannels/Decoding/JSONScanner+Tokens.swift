extension JSONScanner {
    /// Skips a byte order mark before the text, as Foundation does.
    mutating func skipByteOrderMark() {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { advance(3) }
    }

    /// Skips bytes that may be those of a number.
    mutating func scanNumberToken() -> JSONToken {
        let start = position
        while true {
            switch current {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                advance()
            default:
                return JSONToken(.number, from: start, to: position)
            }
        }
    }

    /// Skips a string. Its content may be invalid, as long as it is clear where it ends.
    mutating func scanStringToken() throws(JSONError) -> JSONToken {
        guard current == UInt8(ascii: "\"") else { throw fail("expected a string") }
        advance()
        let start = position
        var (hasEscapes, isBroken) = (false, false)
        while true {
            skipPlainBytes()
            guard position < bytes.count else { throw fail("unterminated string") }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                var token = JSONToken(.string, from: start, to: position)
                (token.hasEscapes, token.isBroken) = (hasEscapes, isBroken)
                advance()
                return token
            case UInt8(ascii: "\\"):
                hasEscapes = true
                if try !scanEscape() { isBroken = true }
            default:
                isBroken = true
                advance()
            }
        }
    }

    /// Skips an escape; returns whether it is a valid one.
    private mutating func scanEscape() throws(JSONError) -> Bool {
        advance()
        guard position < bytes.count else { throw fail("unterminated string") }
        let escape = bytes[position]
        advance()
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            return try scanCodeUnits()
        default:
            return false
        }
    }

    /// Skips the digits after `\u`, and the other half of a surrogate pair; returns whether they are a character.
    private mutating func scanCodeUnits() throws(JSONError) -> Bool {
        guard position + 4 < bytes.count else { throw fail("incomplete escape") }
        for index in 0..<4 where bytes[position + index] == UInt8(ascii: "\"") {
            throw fail("bad \\u escape")
        }
        let unit = codeUnit(at: position)
        advance(4)
        guard let unit else { return false }
        guard UTF16.isSurrogate(unit) else { return true }
        guard UTF16.isLeadSurrogate(unit), position + 6 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u"), let next = codeUnit(at: position + 2), UTF16.isTrailSurrogate(next)
        else { return false }
        advance(6)
        return true
    }

    private func codeUnit(at offset: Int) -> UInt16? {
        var unit: UInt16 = 0
        for index in 0..<4 {
            guard let digit = bytes[offset + index].hexadecimalValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
