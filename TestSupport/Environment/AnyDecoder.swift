import Foundation

/// A decoder of any kind for inputs of one type, so that the code under test takes a JSON decoder or a ``DecoderMock`` alike.
public struct AnyDecoder<Input>: Sendable {
    private let decodeAny: @Sendable (any Decodable.Type, Input) throws -> Any

    /// Creates a decoder of a closure, which is given the type that is wanted. A value of another type is an error, see
    /// ``decode(_:from:)``.
    public init(_ decode: @escaping @Sendable (any Decodable.Type, Input) throws -> Any) {
        decodeAny = decode
    }

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError.typeMismatch` when the decoder gave a value of another type; what the decoder throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from input: Input) throws -> Value {
        let value = try decodeAny(type, input)
        if let value = value as? Value { return value }
        throw DecodingError.typeMismatch(
            type,
            DecodingError.Context(
                codingPath: [], debugDescription: "wanted \(type), but the decoder gave \(Swift.type(of: value))"))
    }
}

extension AnyDecoder<Data> {
    /// Creates a decoder that decodes JSON.
    public init(_ decoder: JSONDecoder) {
        self.init { type, data in try decoder.decode(type, from: data) }
    }
}
