import Foundation

/// A text and its tokens, which all decoders and containers of one decoding share.
final class JSONDocument {
    /// The bytes of the text, borrowed while decoding lasts. If somebody keeps a decoder or container beyond that, they are
    /// copied.
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

    /// The value that stands for a missing one: a null.
    static let missing = 0
    /// The top-level value of the text.
    static let root = 1

    /// Returns the token after a value and its content.
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

    /// Returns the error for a token whose value is found invalid when it is decoded.
    func problem(_ problem: String, with token: JSONToken) -> JSONError {
        JSONError(offset: Int(token.lower), problem: problem)
    }
}

extension JSONDocument {
    /// Decodes a value. `path` is called only if the path to it is needed.
    @inline(__always)
    func decode<Primitive: JSONPrimitive>(
        primitive: Primitive.Type, at value: Int, _ path: () -> JSONCodingPath?
    ) throws -> Primitive {
        guard let primitive = try Primitive.read(tokens[value], in: self) else {
            throw mismatch(of: value, with: Primitive.self, path())
        }
        return primitive
    }

    /// Decodes a value of any type. Some Foundation types are not decoded as they would decode themselves.
    ///
    /// Arrays and dictionaries decode each of their elements here, so the most frequent types have a shortcut. Types are
    /// compared, and values are passed on as they are: a cast would cost more than everything else here.
    func decode<Value: Decodable>(_ type: Value.Type, at value: Int, _ path: () -> JSONCodingPath?) throws -> Value {
        if type == String.self { return unsafeBitCast(try decode(primitive: String.self, at: value, path), to: type) }
        if type == Int.self { return unsafeBitCast(try decode(primitive: Int.self, at: value, path), to: type) }
        if type == Double.self { return unsafeBitCast(try decode(primitive: Double.self, at: value, path), to: type) }
        if type == Date.self { return unsafeBitCast(try date(at: value, path), to: type) }
        if type == Data.self { return unsafeBitCast(try data(at: value, path), to: type) }
        if type == URL.self { return unsafeBitCast(try url(at: value, path), to: type) }
        if type == Decimal.self { return unsafeBitCast(try decimal(at: value, path), to: type) }
        return try Value(from: JSONValueDecoder(document: self, value: value, path: path()))
    }

    private func date(at value: Int, _ path: () -> JSONCodingPath?) throws -> Date {
        guard !isNull(value) else { throw mismatch(of: value, with: Date.self, path()) }
        return Date(timeIntervalSinceReferenceDate: try decode(primitive: Double.self, at: value, path))
    }

    private func data(at value: Int, _ path: () -> JSONCodingPath?) throws -> Data {
        guard !isNull(value) else { throw mismatch(of: value, with: Data.self, path()) }
        guard let data = Data(base64Encoded: try decode(primitive: String.self, at: value, path)) else {
            throw corruption("Encountered Data is not valid Base64.", path())
        }
        return data
    }

    private func url(at value: Int, _ path: () -> JSONCodingPath?) throws -> URL {
        guard !isNull(value) else { throw mismatch(of: value, with: URL.self, path()) }
        guard let url = URL(string: try decode(primitive: String.self, at: value, path)) else {
            throw corruption("Invalid URL string.", path())
        }
        return url
    }

    private func decimal(at value: Int, _ path: () -> JSONCodingPath?) throws -> Decimal {
        let token = tokens[value]
        guard token.kind == .number else { throw mismatch(of: value, with: Decimal.self, path()) }
        return try decimal(token)
    }
}

extension JSONDocument {
    /// Returns the error for a value of the wrong kind. A missing value is a different error, except for `Bool`, as with
    /// Foundation.
    func mismatch(of value: Int, with type: any Any.Type, _ path: JSONCodingPath?) -> DecodingError {
        let isNull = isNull(value)
        let context = DecodingError.Context(
            codingPath: path.keys,
            debugDescription: isNull && type != Bool.self
                ? "Cannot get value of type \(type) -- found null value instead"
                : "Expected to decode \(type) but found \(Self.name(of: tokens[value].kind)) instead."
        )
        return isNull && type != Bool.self ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func corruption(_ description: String, _ path: JSONCodingPath?) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path.keys, debugDescription: description))
    }

    private static func name(of kind: JSONToken.Kind) -> String {
        switch kind {
        case .null: "null"
        case .false, .true: "bool"
        case .number: "number"
        case .string: "a string"
        case .array: "an array"
        case .object: "a dictionary"
        }
    }
}
