import PusherChannels

/// A message or a control frame of a client.
enum ClientMessage {
    case text(String)
    case ping([UInt8])
    case pong
    /// The last one: the client's close frame or its breach of the rules, and the frame to reply with.
    case end(OutgoingFrame)
}

/// Reads the frames of a client (RFC 6455, 5), which are those of a server but for their masks.
struct ClientFrames: ~Copyable {
    private var masks = MaskReader()
    private var reader: MessageReader
    private let binaryAnswer: ServerProfile.Answer?

    /// Creates a reader that refuses messages of more than `limit` bytes, before any byte too many is kept.
    init(limit: Int, binaryAnswer: ServerProfile.Answer? = nil) {
        reader = MessageReader(maximumSize: limit)
        self.binaryAnswer = binaryAnswer
    }

    /// Reads what came, and changes it. Nothing is read after the end.
    mutating func read(_ bytes: UnsafeMutableRawBufferPointer, _ handle: (ClientMessage) -> Void) {
        let (unmasked, isMasked) = masks.remove(from: bytes)
        var cursor = ByteCursor(UnsafeRawBufferPointer(unmasked))
        do throws(ProtocolViolation) {
            while let event = try reader.next(in: &cursor) {
                switch event {
                case .message(.text, let text): handle(.text(String(decoding: text, as: UTF8.self)))
                case .message(.binary, let bytes):
                    switch binaryAnswer {
                    case .success: handle(.text(String(decoding: bytes, as: UTF8.self)))
                    case .nothing: break
                    case .close(let code, let reason): return handle(.end(.close(code, reason: reason)))
                    default: return handle(.end(.close(1003, reason: "Binary messages are not supported")))
                    }
                case .ping(let payload): handle(.ping(Array(payload)))
                case .pong: handle(.pong)
                // The client's own code, or that of a normal closure if it sent none (5.5.1 and 7.4).
                case .close(let code, _): return handle(.end(.close(code == 1005 ? 1000 : code)))
                }
            }
        } catch {
            return handle(.end(.close(error.code, reason: error.reason)))
        }
        reader.release()
        if !isMasked { handle(.end(.close(1002, reason: "a client masks its frames"))) }
    }
}

/// Takes the masks off a client's frames (RFC 6455, 5.1 and 5.3), wherever the frames are split.
private struct MaskReader {
    private enum Part {
        case opcode
        case length
        case extendedLength(bytesLeft: Int, UInt64)
        case key(bytesLeft: Int, UInt32, length: UInt64)
        /// The key is rotated to the next byte.
        case payload(UInt64, key: UInt32)
    }

    private var part = Part.opcode

    /// Returns the frames without their masks, at the place of what came, and whether all had one.
    mutating func remove(from bytes: UnsafeMutableRawBufferPointer) -> (UnsafeMutableRawBufferPointer, isMasked: Bool) {
        var (read, written) = (0, 0)
        while read < bytes.count {
            if case .payload(let left, let key) = part {
                let count = Int(min(left, UInt64(bytes.count - read)))
                let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[read..<read + count])
                mask(piece, with: key)
                UnsafeMutableRawBufferPointer(rebasing: bytes[written...]).copyMemory(from: UnsafeRawBufferPointer(piece))
                (read, written) = (read + count, written + count)
                let turn = UInt32(count % 4 * 8)
                part =
                    left == UInt64(count)
                    ? .opcode : .payload(left - UInt64(count), key: turn == 0 ? key : key << turn | key >> (32 - turn))
                continue
            }
            let byte = bytes[read]
            read += 1
            if case .key(let left, let key, let length) = part {
                let key = key << 8 | UInt32(byte)
                part =
                    left > 1 ? .key(bytesLeft: left - 1, key, length: length) : length == 0 ? .opcode : .payload(length, key: key)
                continue
            }
            if case .length = part, byte & 0x80 == 0 {
                return (UnsafeMutableRawBufferPointer(rebasing: bytes[..<written]), false)
            }
            let isLength = if case .length = part { true } else { false }
            bytes[written] = isLength ? byte & 0x7F : byte
            written += 1
            advance(after: byte)
        }
        return (UnsafeMutableRawBufferPointer(rebasing: bytes[..<written]), true)
    }

    /// Goes on after a byte of a header.
    private mutating func advance(after byte: UInt8) {
        switch part {
        case .opcode: part = .length
        case .length:
            switch byte & 0x7F {
            case 126: part = .extendedLength(bytesLeft: 2, 0)
            case 127: part = .extendedLength(bytesLeft: 8, 0)
            case let length: part = .key(bytesLeft: 4, 0, length: UInt64(length))
            }
        case .extendedLength(let left, let length):
            let length = length << 8 | UInt64(byte)
            part = left > 1 ? .extendedLength(bytesLeft: left - 1, length) : .key(bytesLeft: 4, 0, length: length)
        case .key, .payload: break
        }
    }
}
