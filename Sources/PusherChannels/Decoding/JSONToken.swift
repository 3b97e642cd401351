/// A value or a member's name in the flat list that a text is read into. The list is in the order of the text, with each value
/// before its content.
struct JSONToken {
    enum Kind: UInt8 {
        case null, `false`, `true`, number, string, array, object
    }

    let kind: Kind
    /// Indicates whether a string has escapes, or whether the name of one of an object's members does.
    var hasEscapes = false
    /// Indicates whether a string is invalid because of its escapes or control characters, or whether the name of one of an
    /// object's members is.
    ///
    /// This is detected while reading, but matters only when the string is decoded, as with Foundation.
    var isBroken = false
    /// The start of a string's or number's text; the number of a container's members or elements.
    var lower: UInt32 = 0
    /// The end of that text; the index of the token that follows a container and its content.
    var upper: UInt32 = 0

    init(_ kind: Kind) {
        self.kind = kind
    }

    init(_ kind: Kind, from start: Int, to end: Int) {
        self.kind = kind
        lower = UInt32(truncatingIfNeeded: start)
        upper = UInt32(truncatingIfNeeded: end)
    }

    /// The length of the longest text. Offsets have 32 bits: two of them and the rest make twelve bytes, the memory that reading
    /// many small values costs for each.
    static let longestText = Int(UInt32.max)

    var count: Int { Int(lower) }

    var text: Range<Int> { Int(lower)..<Int(upper) }
}

/// A list of tokens in memory that its owner must deallocate.
struct JSONTokenList {
    private(set) var memory: UnsafeMutablePointer<JSONToken>
    private(set) var count = 0
    private var capacity: Int

    /// Creates a list with room for as many tokens as most texts of this many bytes have.
    init(for bytes: Int) {
        capacity = bytes / 4 + 8
        memory = .allocate(capacity: capacity)
    }

    subscript(index: Int) -> JSONToken {
        get { memory[index] }
        nonmutating _modify { yield &memory[index] }
    }

    @inline(__always)
    mutating func append(_ token: JSONToken) {
        if count == capacity { grow() }
        (memory + count).initialize(to: token)
        count += 1
    }

    @inline(never)
    private mutating func grow() {
        capacity *= 2
        let larger = UnsafeMutablePointer<JSONToken>.allocate(capacity: capacity)
        larger.moveInitialize(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }
}
