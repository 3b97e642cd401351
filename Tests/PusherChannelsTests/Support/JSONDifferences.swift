@testable import PusherChannels

/// The known differences between Foundation's JSON and this package's, removed from a document so the two must agree on it.
struct JSONDifferences {
    enum Difference {
        /// Foundation skips a byte order mark; on the wire there is none.
        case byteOrderMark
        /// Foundation also skips a byte order mark at the beginning of a text or after an escape; here it is part of the text.
        case byteOrderMarkInText
        /// Foundation skips a comma before a closing bracket; the grammar has none there.
        case trailingComma
        /// Foundation refuses half of a surrogate pair; here it is U+FFFD, because the loss hardly matters in most events.
        case loneSurrogate
        /// Foundation refuses a number that no `Double` holds; here it is infinite.
        case infinity
    }

    /// The document without the differences: lone surrogates are U+FFFD, numbers too large are 0, the rest is left out.
    private(set) var repaired: [UInt8] = []
    private(set) var found: Set<Difference> = []
    /// The largest number of brackets that are open at once: Foundation stops at 512, this package at 128.
    private(set) var depth = 0
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private var rest: ArraySlice<UInt8>
    private var open = 0

    init(in bytes: [UInt8]) {
        rest = bytes[...]
        // All of them, because Foundation would skip another one.
        while rest.starts(with: Self.mark) {
            found.insert(.byteOrderMark)
            rest = rest.dropFirst(Self.mark.count)
        }
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "\""): readString()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): readNumber()
            case UInt8(ascii: ","): readComma()
            default: readOther(byte)
            }
        }
    }

    /// Indicates whether this package refuses the document because of the differences.
    var isRefusedHere: Bool { found.contains(.byteOrderMark) || found.contains(.trailingComma) }

    private mutating func copy(_ count: Int) {
        repaired += rest.prefix(count)
        rest = rest.dropFirst(count)
    }

    private mutating func readOther(_ byte: UInt8) {
        if "[{".utf8.contains(byte) { open += 1 }
        if "]}".utf8.contains(byte) { open -= 1 }
        depth = max(depth, open)
        copy(1)
    }

    private mutating func readComma() {
        let isSpace: (UInt8) -> Bool = { " \t\r\n".utf8.contains($0) }
        let closes = rest.dropFirst().first { !isSpace($0) }.map { "]}".utf8.contains($0) } ?? false
        let follows = repaired.last { !isSpace($0) }.map { !"[{,:".utf8.contains($0) } ?? false
        guard closes, follows else { return copy(1) }
        found.insert(.trailingComma)
        rest = rest.dropFirst()
    }

    private mutating func readNumber() {
        let digits = rest.prefix { "0123456789+-.eE".utf8.contains($0) }
        let isNumber = JSONScanner.problem(in: digits) == nil
        guard isNumber, Double(String(decoding: digits, as: UTF8.self))?.isInfinite == true else { return copy(digits.count) }
        found.insert(.infinity)
        repaired.append(UInt8(ascii: "0"))
        rest = rest.dropFirst(digits.count)
    }

    private mutating func readString() {
        copy(1)
        readMark()
        while let byte = rest.first {
            if byte == UInt8(ascii: "\\") {
                readEscape()
                readMark()
            } else {
                copy(1)
                if byte == UInt8(ascii: "\"") { return }
            }
        }
    }

    private mutating func readMark() {
        // All of them, because the text goes on after an escape that stands for one.
        while rest.starts(with: Self.mark) {
            found.insert(.byteOrderMarkInText)
            repaired += #"\uFEFF"#.utf8
            rest = rest.dropFirst(Self.mark.count)
        }
    }

    private mutating func readEscape() {
        guard let unit = Self.codeUnit(rest) else { return copy(2) }
        guard UTF16.isSurrogate(unit) else { return copy(6) }
        if UTF16.isLeadSurrogate(unit), let next = Self.codeUnit(rest.dropFirst(6)), UTF16.isTrailSurrogate(next) {
            return copy(12)
        }
        found.insert(.loneSurrogate)
        repaired += #"\uFFFD"#.utf8
        rest = rest.dropFirst(6)
    }

    /// Returns the code unit that an escape stands for; `nil` if there is no such escape.
    private static func codeUnit(_ bytes: ArraySlice<UInt8>) -> UInt16? {
        let digits = bytes.prefix(6).dropFirst(2)
        guard bytes.starts(with: #"\u"#.utf8), digits.count == 4, digits.allSatisfy({ $0.hexadecimalValue != nil })
        else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
