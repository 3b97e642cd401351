struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: JSONMembers
    let path: JSONCodingPath?

    var codingPath: [any CodingKey] { path.keys }

    /// The keys in the order of the text; with Foundation, they have no order. Names were checked when the container was made.
    var allKeys: [Key] {
        do {
            return try members.names.compactMap(Key.init(stringValue:))
        } catch {
            return []
        }
    }

    func contains(_ key: Key) -> Bool {
        members.value(named: key.stringValue) != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        document.isNull(try value(key))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try document.decode(type, at: try value(key)) { extended(by: key) }
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let value = valueIfPresent(key) else { return nil }
        return try document.decode(type, at: value) { extended(by: key) }
    }

    // MARK: Containers and decoders

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try decoder(of: try value(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(of: try value(key), key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoder(of: members.value(named: JSONCodingKey.super.stringValue) ?? JSONDocument.missing, JSONCodingKey.super)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoder(of: members.value(named: key.stringValue) ?? JSONDocument.missing, key)
    }

    // MARK: Values

    private var document: JSONDocument { members.document }

    private func extended(by key: any CodingKey) -> JSONCodingPath {
        JSONCodingPath(path, key)
    }

    private func decoder(of value: Int, _ key: any CodingKey) -> JSONValueDecoder {
        JSONValueDecoder(document: document, value: value, path: extended(by: key))
    }

    private func value(_ key: Key) throws -> Int {
        guard let value = members.value(named: key.stringValue) else { throw missing(key) }
        return value
    }

    private func missing(_ key: Key) -> DecodingError {
        let description = "No value associated with key \(key) (\"\(key.stringValue)\")."
        return .keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: description))
    }

    /// Returns the value for a key; nil if there is none or it is null.
    private func valueIfPresent(_ key: Key) -> Int? {
        guard let value = members.value(named: key.stringValue), !document.isNull(value) else { return nil }
        return value
    }

    @inline(__always)
    private func primitive<Primitive: JSONPrimitive>(_ key: Key) throws -> Primitive {
        try document.decode(primitive: Primitive.self, at: try value(key)) { extended(by: key) }
    }

    @inline(__always)
    private func primitiveIfPresent<Primitive: JSONPrimitive>(_ key: Key) throws -> Primitive? {
        guard let value = valueIfPresent(key) else { return nil }
        return try document.decode(primitive: Primitive.self, at: value) { extended(by: key) }
    }

    // MARK: Primitives

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try primitive(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try primitive(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try primitive(key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try primitive(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try primitive(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try primitive(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try primitive(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try primitive(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try primitive(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try primitive(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try primitive(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try primitive(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try primitive(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try primitive(key) }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try primitive(key) }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try primitive(key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try primitiveIfPresent(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try primitiveIfPresent(key) }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try primitiveIfPresent(key) }
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try primitiveIfPresent(key) }
}
