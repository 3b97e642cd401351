import Foundation

extension JSONDocument {
    /// Decodes a value that was reached on a path, which is asked for only where it is needed.
    @inline(__always)
    func decode<Primitive: JSONPrimitive>(
        primitive: Primitive.Type, at value: Int, _ path: () -> JSONCodingPath?
    ) throws -> Primitive {
        guard let primitive = try Primitive.read(tokens[value], in: self) else {
            throw mismatch(of: value, with: Primitive.self, path())
        }
        return primitive
    }

    /// Decodes a value of any type; some of Foundation's are not what they themselves would make of it.
    ///
    /// Arrays and dictionaries ask for each of their elements here, so the most frequent types have a short way. A type is told
    /// by comparing, its value handed on as it is: a cast would cost more than all the rest.
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
