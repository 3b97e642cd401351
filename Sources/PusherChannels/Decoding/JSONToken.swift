/// A value, or a member's name, in the flat list that a text is read into: in the order of the text, each before what is in it.
struct JSONToken {
    enum Kind: UInt8 {
        case null, `false`, `true`, number, string, array, object
    }

    let kind: Kind
    /// A string has escapes, or the name of one of an object's members does.
    var hasEscapes = false
    /// A string is none, its escapes or control characters being wrong, or the name of one of an object's members is none.
    ///
    /// This is found out while reading and matters only to those who ask for the string, as it is with Foundation.
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

    /// Offsets have 32 bits: two of them and the rest make twelve bytes, which is what reading many small values costs in memory.
    static let longestText = Int(UInt32.max)

    var count: Int { Int(lower) }

    var text: Range<Int> { Int(lower)..<Int(upper) }
}

/// Tokens in memory that whoever has the list must deallocate.
struct JSONTokenList {
    private(set) var memory: UnsafeMutablePointer<JSONToken>
    private(set) var count = 0
    private var capacity: Int

    /// There is room for as many tokens as most texts of so many bytes have.
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
