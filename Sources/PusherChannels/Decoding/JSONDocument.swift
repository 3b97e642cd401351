/// A text and the tokens in it, which all decoders and containers of one decoding look at.
final class JSONDocument {
    /// Borrowed while decoding lasts. Somebody may keep a decoder or container beyond that: then they are copied.
    @exclusivity(unchecked)
    private(set) var bytes: UnsafeRawBufferPointer
    private var ownsBytes = false
    let tokens: UnsafePointer<JSONToken>

    /// Reads a text into tokens.
    init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        guard bytes.count <= JSONToken.longestText else {
            throw JSONError(offset: JSONToken.longestText, problem: "the text is too long")
        }
        var tokenizer = JSONTokenizer(bytes)
        self.bytes = bytes
        do {
            try tokenizer.read()
        } catch {
            tokenizer.tokens.memory.deallocate()
            throw error
        }
        tokens = UnsafePointer(tokenizer.tokens.memory)
    }

    deinit {
        tokens.deallocate()
        if ownsBytes { bytes.deallocate() }
    }

    func copyBytes() {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyMemory(from: bytes)
        bytes = UnsafeRawBufferPointer(copy)
        ownsBytes = true
    }

    /// The value that stands for one that isn't there: a null.
    static let missing = 0
    /// The value that the text is.
    static let root = 1

    /// The token behind a value and all that is in it.
    @inline(__always)
    func following(_ value: Int) -> Int {
        switch tokens[value].kind {
        case .array, .object: Int(tokens[value].upper)
        case .null, .false, .true, .number, .string: value + 1
        }
    }

    func isNull(_ value: Int) -> Bool {
        tokens[value].kind == .null
    }

    @inline(__always)
    func text(of token: JSONToken) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[token.text])
    }

    /// The problem with the value of a token that is read late.
    func problem(_ problem: String, with token: JSONToken) -> JSONError {
        JSONError(offset: Int(token.lower), problem: problem)
    }
}
