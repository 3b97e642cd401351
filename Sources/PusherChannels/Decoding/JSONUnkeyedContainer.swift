struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    private let document: JSONDocument
    private let path: JSONCodingPath?
    /// The next value, if there is one.
    private var next: Int
    private let elements: Int
    private(set) var currentIndex = 0

    init(array: Int, in document: JSONDocument, path: JSONCodingPath?) {
        self.document = document
        self.path = path
        next = array + 1
        elements = document.tokens[array].count
    }

    var codingPath: [any CodingKey] { path.keys }
    var count: Int? { elements }
    var isAtEnd: Bool { currentIndex >= elements }

    mutating func decodeNil() throws -> Bool {
        guard document.isNull(try value(of: Never.self)) else { return false }
        advance()
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoded = try document.decode(type, at: try value(of: type)) { extended }
        advance()
        return decoded
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        let decoded = try valueIfPresent.map { try document.decode(type, at: $0) { extended } }
        advance()
        return decoded
    }

    // MARK: Containers and decoders

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        let container = try decoder(of: KeyedDecodingContainer<Nested>.self).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try decoder(of: (any UnkeyedDecodingContainer).self).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try decoder(of: (any Decoder).self)
        advance()
        return decoder
    }

    // MARK: Values

    private var extended: JSONCodingPath {
        JSONCodingPath(path, JSONCodingKey.element(currentIndex))
    }

    private func decoder(of type: any Any.Type) throws -> JSONValueDecoder {
        JSONValueDecoder(document: document, value: try value(of: type), path: extended)
    }

    private func value(of type: any Any.Type) throws -> Int {
        guard !isAtEnd else {
            let context = DecodingError.Context(codingPath: extended.keys, debugDescription: "Unkeyed container is at end.")
            throw DecodingError.valueNotFound(type, context)
        }
        return next
    }

    /// The next value; nil if there is none or it is null.
    private var valueIfPresent: Int? {
        isAtEnd || document.isNull(next) ? nil : next
    }

    /// Moves to the next value. The index grows even past the end, as with Foundation.
    private mutating func advance() {
        if !isAtEnd { next = document.following(next) }
        currentIndex += 1
    }

    @inline(__always)
    private mutating func primitive<Primitive: JSONPrimitive>() throws -> Primitive {
        let primitive = try document.decode(primitive: Primitive.self, at: try value(of: Primitive.self)) { extended }
        advance()
        return primitive
    }

    @inline(__always)
    private mutating func primitiveIfPresent<Primitive: JSONPrimitive>() throws -> Primitive? {
        let primitive = try valueIfPresent.map { try document.decode(primitive: Primitive.self, at: $0) { extended } }
        advance()
        return primitive
    }

    // MARK: Primitives

    mutating func decode(_ type: Bool.Type) throws -> Bool { try primitive() }
    mutating func decode(_ type: String.Type) throws -> String { try primitive() }
    mutating func decode(_ type: Double.Type) throws -> Double { try primitive() }
    mutating func decode(_ type: Float.Type) throws -> Float { try primitive() }
    mutating func decode(_ type: Int.Type) throws -> Int { try primitive() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try primitive() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try primitive() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try primitive() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try primitive() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try primitive() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try primitive() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try primitive() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try primitive() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try primitive() }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try primitive() }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try primitive() }

    mutating func decodeIfPresent(_ type: Bool.Type) throws -> Bool? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: String.Type) throws -> String? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: Double.Type) throws -> Double? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: Float.Type) throws -> Float? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: Int.Type) throws -> Int? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: Int8.Type) throws -> Int8? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: Int16.Type) throws -> Int16? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: Int32.Type) throws -> Int32? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: Int64.Type) throws -> Int64? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: UInt.Type) throws -> UInt? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: UInt8.Type) throws -> UInt8? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: UInt16.Type) throws -> UInt16? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: UInt32.Type) throws -> UInt32? { try primitiveIfPresent() }
    mutating func decodeIfPresent(_ type: UInt64.Type) throws -> UInt64? { try primitiveIfPresent() }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    mutating func decodeIfPresent(_ type: Int128.Type) throws -> Int128? { try primitiveIfPresent() }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    mutating func decodeIfPresent(_ type: UInt128.Type) throws -> UInt128? { try primitiveIfPresent() }
}
