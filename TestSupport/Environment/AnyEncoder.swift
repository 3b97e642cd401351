import Foundation

/// An encoder of any kind for outputs of one type, so that the code under test takes a JSON encoder or an ``EncoderMock`` alike.
public struct AnyEncoder<Output>: Sendable {
    private let encodeAny: @Sendable (any Encodable) throws -> Output

    /// Creates an encoder of a closure.
    public init(_ encode: @escaping @Sendable (any Encodable) throws -> Output) {
        encodeAny = encode
    }

    /// Encodes a value.
    ///
    /// - Throws: what the encoder throws.
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
