import Foundation

/// A type-erased decoder for inputs of one type: the code under test can take a JSON decoder or a ``DecoderMock``.
public struct AnyDecoder<Input>: Sendable {
    private let decodeAny: @Sendable (any Decodable.Type, Input) throws -> Any

    /// Creates a decoder from a closure that takes the requested type. Returning a value of another type is an error; see
    /// ``decode(_:from:)``.
    public init(_ decode: @escaping @Sendable (any Decodable.Type, Input) throws -> Any) {
        decodeAny = decode
    }

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError.typeMismatch` if the decoder returns a value of another type; any error from the decoder.
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

/// A type-erased encoder for outputs of one type: the code under test can take a JSON encoder or an ``EncoderMock``.
public struct AnyEncoder<Output>: Sendable {
    private let encodeAny: @Sendable (any Encodable) throws -> Output

    /// Creates an encoder from a closure.
    public init(_ encode: @escaping @Sendable (any Encodable) throws -> Output) {
        encodeAny = encode
    }

    /// Encodes a value.
    ///
    /// - Throws: Any error from the encoder.
    public func encode(_ value: some Encodable) throws -> Output {
        try encodeAny(value)
    }
}

extension AnyEncoder<Data> {
    /// Creates an encoder that encodes to JSON.
    public init(_ encoder: JSONEncoder) {
        self.init { value in try encoder.encode(value) }
    }
}
