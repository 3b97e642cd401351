import PusherChannels

/// A decoder that returns what the test specifies, whatever its input is.
///
/// All members may be called from any thread.
public final class DecoderMock<Input: Sendable>: Sendable {
    /// The outcome of decoding an input: a value or an error.
    public typealias Decode = @Sendable (Input) -> Result<any Sendable, any Error>

    private let state: Locked<(decode: Decode, inputs: [Input])>
    private let issues: IssueLog

    init(issues: IssueLog) {
        self.issues = issues
        state = Locked(
            (
                { _ in
                    let context = DecodingError.Context(codingPath: [], debugDescription: "the decoder mock has no nextDecode")
                    return .failure(DecodingError.dataCorrupted(context))
                }, []
            ))
    }

    /// The outcome of decoding from now on. Until it is set, decoding throws `DecodingError.dataCorrupted`.
    public var nextDecode: Decode {
        get { state.withLock { $0.decode } }
        set {
            state.release { state in
                defer { state.decode = newValue }
                return state.decode
            }
        }
    }

    /// Makes every later use an issue in ``TestEnvironment/issues``; decoding throws ``Unimplemented``.
    public func unimplemented() {
        nextDecode = { [issues] _ in
            issues.record("decoder was used, but is unimplemented")
            return .failure(Unimplemented(name: "decoder"))
        }
    }

    /// The inputs that were decoded, in order.
    public var inputs: [Input] { state.withLock { $0.inputs } }

    /// The mock as a decoder for the code under test.
    public var decoder: AnyDecoder<Input> {
        AnyDecoder { [self] _, input in
            let decode = state.withLock { state in
                state.inputs.append(input)
                return state.decode
            }
            return try decode(input).get()
        }
    }
}

/// An encoder that returns what the test specifies, whatever the value is.
///
/// All members may be called from any thread.
public final class EncoderMock<Output: Sendable>: Sendable {
    /// The outcome of encoding a value: an output or an error.
    public typealias Encode = @Sendable (any Encodable) -> Result<Output, any Error>

    private let state: Locked<(encode: Encode, values: [String])>
    private let issues: IssueLog

    init(issues: IssueLog) {
        self.issues = issues
        state = Locked(
            (
                { value in
                    let context = EncodingError.Context(codingPath: [], debugDescription: "the encoder mock has no nextEncode")
                    return .failure(EncodingError.invalidValue(value, context))
                }, []
            ))
    }

    /// The outcome of encoding from now on. Until it is set, encoding throws `EncodingError.invalidValue`.
    public var nextEncode: Encode {
        get { state.withLock { $0.encode } }
        set {
            state.release { state in
                defer { state.encode = newValue }
                return state.encode
            }
        }
    }

    /// Makes every later use an issue in ``TestEnvironment/issues``; encoding throws ``Unimplemented``.
    public func unimplemented() {
        nextEncode = { [issues] _ in
            issues.record("encoder was used, but is unimplemented")
            return .failure(Unimplemented(name: "encoder"))
        }
    }

    /// The values that were encoded, in order. They are kept as text, because the values themselves can't be kept.
    public var values: [String] { state.withLock { $0.values } }

    /// The mock as an encoder for the code under test.
    public var encoder: AnyEncoder<Output> {
        AnyEncoder { [self] value in
            let text = "\(value)"
            let encode = state.withLock { state in
                state.values.append(text)
                return state.encode
            }
            return try encode(value).get()
        }
    }
}

/// An error thrown when the code under test uses a coder that the test marked as unimplemented.
public struct Unimplemented: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name of the coder that was used.
    public let name: String

    /// `decoder is unimplemented`
    public var description: String { "\(name) is unimplemented" }
}
