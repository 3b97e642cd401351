/// The kind of a frame (RFC 6455, 5.2).
enum FrameOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Indicates whether the frame is about the connection and not its data (5.5).
    var isControl: Bool { rawValue & 0x8 != 0 }
}

/// The largest payload of a control frame (RFC 6455, 5.5).
let maximumControlPayload = 125

/// A frame before its payload (RFC 6455, 5.2).
struct FrameHeader: Equatable, Sendable {
    /// FIN: the last frame of its message.
    let isFinal: Bool
    let opcode: FrameOpcode
    /// The number of bytes of payload that the peer announces. Nobody has checked yet whether that is too much.
    let length: UInt64

    /// Indicates whether it is its message's only frame.
    var isWholeMessage: Bool { isFinal && (opcode == .text || opcode == .binary) }
}

/// Reads headers byte by byte, so it makes no difference where they are split.
///
/// Most headers have two or four bytes; a faster way for those that lie in one piece would save next to nothing.
struct FrameHeaderReader {
    private var first: UInt8 = 0
    private var length: UInt64 = 0
    private var received = 0
    /// The number of bytes of the header, which is known after the second.
    private var size = 2

    /// Continues to read; returns `nil` if the bytes end before the header does.
    mutating func read(_ cursor: inout ByteCursor) throws(ProtocolViolation) -> FrameHeader? {
        while let byte = cursor.next() {
            switch received {
            case 0:
                guard byte & 0x70 == 0 else { throw .reservedBits }
                first = byte
            case 1:
                guard byte & 0x80 == 0 else { throw .maskedFrame }
                switch byte {
                case 126: (size, length) = (4, 0)
                // not a mutant: the eight bytes that follow push any other number out
                case 127: (size, length) = (10, 0)
                default: (size, length) = (2, UInt64(byte))
                }
            default:
                length = length << 8 | UInt64(byte)
            }
            received += 1
            if received >= 2, received == size {
                received = 0
                return try finish()
            }
        }
        return nil
    }

    private func finish() throws(ProtocolViolation) -> FrameHeader {
        guard let opcode = FrameOpcode(rawValue: first & 0x0F) else { throw .unknownOpcode(first & 0x0F) }
        let isFinal = first & 0x80 != 0
        if opcode.isControl {
            guard size == 2 else { throw .controlFrameTooLong }
            guard isFinal else { throw .fragmentedControlFrame }
        }
        switch size {
        case 4 where length < 126: throw .lengthNotMinimal
        case 10 where length >> 63 != 0: throw .lengthOutOfRange
        case 10 where length <= UInt64(UInt16.max): throw .lengthNotMinimal
        default: return FrameHeader(isFinal: isFinal, opcode: opcode, length: length)
        }
    }
}
