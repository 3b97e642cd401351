/// A tokenizer that reads a text once and without recursion.
///
/// It refuses the texts that Foundation's decoder refuses whatever they are decoded as. Invalid numbers, escapes, and control
/// characters are refused only when they are decoded, and a comma before a closing bracket is skipped.
struct JSONTokenizer {
    /// The deepest nesting that is accepted, which is Foundation's.
    static let maximumDepth = 512

    private var scanner: JSONScanner
    private(set) var tokens: JSONTokenList
    /// The token of the innermost open container, and whether it is an object. The number 0 means none, as the token there is no
    /// container.
    private var open = 0
    private var isInObject = false
    private var depth = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        scanner = JSONScanner(bytes)
        tokens = JSONTokenList(for: bytes.count)
        // The null for decoders of missing members.
        tokens.append(JSONToken(.null))
    }

    /// Returns the next byte that isn't white space, which is mostly the very next one.
    @inline(__always)
    private mutating func next() -> UInt8 {
        let byte = scanner.current
        guard byte <= UInt8(ascii: " ") else { return byte }
        scanner.skipWhitespace()
        return scanner.current
    }

    /// Reads one value and its content, up to the end of the text.
    mutating func read() throws(JSONError) {
        scanner.skipByteOrderMark()
        repeat {
            let isOpened = try readValue()
            if !isOpened { try closeContainers() }
        } while open != 0
        try scanner.expectEnd()
    }

    /// Reads a value, or only the beginning of a container that isn't empty; returns whether it was such a container.
    private mutating func readValue() throws(JSONError) -> Bool {
        switch next() {
        case UInt8(ascii: "\""):
            tokens.append(try scanner.scanStringToken())
        case UInt8(ascii: "{"):
            return try openContainer(.object, closedBy: UInt8(ascii: "}"))
        case UInt8(ascii: "["):
            return try openContainer(.array, closedBy: UInt8(ascii: "]"))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            tokens.append(scanner.scanNumberToken())
        case UInt8(ascii: "t"):
            try scanner.skipWord("true")
            tokens.append(JSONToken(.true))
        case UInt8(ascii: "f"):
            try scanner.skipWord("false")
            tokens.append(JSONToken(.false))
        case UInt8(ascii: "n"):
            try scanner.skipWord("null")
            tokens.append(JSONToken(.null))
        default:
            throw scanner.fail("expected a value")
        }
        return false
    }

    /// Opens a container. Until it is closed, the `upper` of its token is the container that it is in.
    private mutating func openContainer(_ kind: JSONToken.Kind, closedBy close: UInt8) throws(JSONError) -> Bool {
        guard depth < Self.maximumDepth else { throw scanner.fail("nested too deeply") }
        scanner.advance()
        let container = tokens.count
        tokens.append(JSONToken(kind, from: 0, to: open))
        if next() == close {
            scanner.advance()
            tokens[container].upper = UInt32(truncatingIfNeeded: tokens.count)
            return false
        }
        depth += 1
        open = container
        isInObject = kind == .object
        if isInObject { try readKey() }
        return true
    }

    /// Closes the containers that end after a value, up to one that has another value.
    private mutating func closeContainers() throws(JSONError) {
        while open != 0 {
            tokens[open].lower &+= 1
            let close = isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            let byte = next()
            if byte == UInt8(ascii: ",") {
                scanner.advance()
                if next() != close {
                    if isInObject { try readKey() }
                    return
                }
            } else if byte != close {
                throw scanner.fail("expected a comma")
            }
            scanner.advance()
            closeContainer()
        }
    }

    private mutating func closeContainer() {
        let outer = Int(tokens[open].upper)
        tokens[open].upper = UInt32(truncatingIfNeeded: tokens.count)
        depth -= 1
        open = outer
        isInObject = tokens[outer].kind == .object
    }

    private mutating func readKey() throws(JSONError) {
        let key = try scanner.scanStringToken()
        if key.hasEscapes || key.isBroken {
            tokens[open].hasEscapes = true
            tokens[open].isBroken = tokens[open].isBroken || key.isBroken
        }
        tokens.append(key)
        guard next() == UInt8(ascii: ":") else { throw scanner.fail("expected a colon") }
        scanner.advance()
    }
}
