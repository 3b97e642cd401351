import Foundation

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
