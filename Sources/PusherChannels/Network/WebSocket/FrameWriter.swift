/// Writes a client's frames: never fragmented, always masked (RFC 6455, 5.1 to 5.3).
struct FrameWriter {
    private let makeKey: () -> UInt32

    /// Creates a writer. Each frame gets its own key, which must be unpredictable (5.3, 10.3).
    init(makeKey: @escaping () -> UInt32) {
        self.makeKey = makeKey
    }

    /// Adds a text message.
    func append(text: String, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { append(.text, UnsafeRawBufferPointer($0), to: &output) }
    }

    /// Adds the pong for a ping (5.5.3), whose payload is truncated if it is too long.
    func append(pong payload: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        append(.pong, UnsafeRawBufferPointer(rebasing: payload.prefix(maximumControlPayload)), to: &output)
    }

    /// Adds a close frame (5.5.1), which is empty if the code must not be sent.
    func append(close code: UInt16, reason: String, to output: inout [UInt8]) {
        ClosePayload.bytes(code: code, reason: reason).withUnsafeBytes { append(.close, $0, to: &output) }
    }

    private func append(_ opcode: FrameOpcode, _ payload: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        let key = makeKey()
        output.append(0x80 | opcode.rawValue)
        switch payload.count {
        case ..<126:
            output.append(0x80 | UInt8(truncatingIfNeeded: payload.count))
        case ...Int(UInt16.max):
            output.append(0x80 | 126)
            append(UInt64(payload.count), size: 2, to: &output)
        default:
            output.append(0x80 | 127)
            append(UInt64(payload.count), size: 8, to: &output)
        }
        append(UInt64(key), size: 4, to: &output)
        let start = output.count
        output.append(contentsOf: payload)
        output.withUnsafeMutableBytes { mask(UnsafeMutableRawBufferPointer(rebasing: $0[start...]), with: key) }
    }

    /// Adds the lowest bytes of a number in network order.
    private func append(_ number: UInt64, size: Int, to output: inout [UInt8]) {
        for shift in (0..<size).reversed() {
            output.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(shift))))
        }
    }
}

/// Masks bytes in place, or unmasks them, which is the same operation (RFC 6455, 5.3): eight at a time.
package func mask(_ bytes: UnsafeMutableRawBufferPointer, with key: UInt32) {
    let wide = (UInt64(key) << 32 | UInt64(key)).bigEndian
    var position = 0
    while position + 8 <= bytes.count {
        let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        bytes.storeBytes(of: word ^ wide, toByteOffset: position, as: UInt64.self)
        position += 8
    }
    while position < bytes.count {
        bytes[position] ^= UInt8(truncatingIfNeeded: key >> UInt32(24 - 8 * (position & 3)))
        position += 1
    }
}
