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
