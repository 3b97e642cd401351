/// A decoder of one value. It is small enough to be passed on as a `Decoder` without an allocation.
struct JSONValueDecoder: Decoder {
    let document: JSONDocument
    let value: Int
    let path: JSONCodingPath?

    var codingPath: [any CodingKey] { path.keys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard document.tokens[value].kind == .object else {
            throw document.mismatch(of: value, with: [String: Any].self, path)
        }
        return KeyedDecodingContainer(JSONKeyedContainer<Key>(members: try JSONMembers(of: value, in: document), path: path))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard document.tokens[value].kind == .array else { throw document.mismatch(of: value, with: [Any].self, path) }
        return JSONUnkeyedContainer(array: value, in: document, path: path)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        self
    }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        document.isNull(value)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try document.decode(type, at: value) { path }
    }

    @inline(__always)
    private func primitive<Primitive: JSONPrimitive>() throws -> Primitive {
        try document.decode(primitive: Primitive.self, at: value) { path }
    }

    func decode(_ type: Bool.Type) throws -> Bool { try primitive() }
    func decode(_ type: String.Type) throws -> String { try primitive() }
    func decode(_ type: Double.Type) throws -> Double { try primitive() }
    func decode(_ type: Float.Type) throws -> Float { try primitive() }
    func decode(_ type: Int.Type) throws -> Int { try primitive() }
    func decode(_ type: Int8.Type) throws -> Int8 { try primitive() }
    func decode(_ type: Int16.Type) throws -> Int16 { try primitive() }
    func decode(_ type: Int32.Type) throws -> Int32 { try primitive() }
    func decode(_ type: Int64.Type) throws -> Int64 { try primitive() }
    func decode(_ type: UInt.Type) throws -> UInt { try primitive() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try primitive() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try primitive() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try primitive() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try primitive() }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type) throws -> Int128 { try primitive() }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type) throws -> UInt128 { try primitive() }
}
