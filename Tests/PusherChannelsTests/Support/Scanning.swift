@testable import PusherChannels

extension JSONScanner {
    /// Runs the body with a scanner for the bytes.
    static func read<Value>(
        _ bytes: some Sequence<UInt8>, _ body: (inout JSONScanner) throws(JSONError) -> Value
    ) -> Result<Value, JSONError> {
        Array(bytes).withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            do throws(JSONError) {
                return .success(try body(&scanner))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Returns the reason why the bytes aren't one document; nil if they are.
    static func problem(in bytes: some Sequence<UInt8>) -> JSONError? {
        let result = read(bytes) { scanner throws(JSONError) in
            scanner.skipWhitespace()
            try scanner.skipValue()
            try scanner.expectEnd()
        }
        guard case .failure(let error) = result else { return nil }
        return error
    }
}

extension JSONValue {
    /// Creates the value, or nil if the text isn't JSON.
    init?(ifJSON text: String) {
        do {
            self = try JSONValue(parsing: text)
        } catch {
            return nil
        }
    }
}

extension EnvelopeDecoder {
    static func decode(
        _ bytes: some Sequence<UInt8>, _ protocol: PusherProtocol = .pusher
    ) -> Result<ServerMessage, MalformedMessage> {
        var decoder = EnvelopeDecoder(`protocol`)
        let block = Array(bytes)
        do throws(MalformedMessage) {
            return .success(try decoder.decode(block, 0..<block.count))
        } catch {
            return .failure(error)
        }
    }

    static func decode(_ text: String) -> Result<ServerMessage, MalformedMessage> {
        decode(text.utf8)
    }
}
