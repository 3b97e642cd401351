/// Finds the ends of WebSocket frames in the bytes that a server sends: first an HTTP head, then frames if its status was 101.
struct FrameCounter {
    private enum Part {
        /// The HTTP head, with the number of bytes seen of the empty line that ends it.
        case head(endSeen: Int)
        case opcode
        case length
        case extendedLength(bytesLeft: Int, value: UInt64, isMasked: Bool)
        case rest(UInt64)
        /// Not a WebSocket: no frame will ever come.
        case other
    }

    private var part = Part.head(endSeen: 0)
    private var status: [UInt8] = []
    private static let switching = Array("HTTP/1.1 101".utf8)

    /// Reads further bytes, and calls `ended` for each end within them, with the number of these bytes that come before it.
    ///
    /// The first end is the head's, which stands for "no frame yet".
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ ended: (Int) -> Void) {
        var index = 0
        while index < bytes.count {
            if case .rest(let left) = part {
                let step = Int(min(left, UInt64(bytes.count - index)))
                index += step
                settle(left - UInt64(step), at: index, ended)
                continue
            }
            let byte = bytes[index]
            index += 1
            switch part {
            case .head(let seen):
                if status.count < Self.switching.count { status.append(byte) }
                readHead(byte, seen, at: index, ended)
            case .opcode:
                part = .length
            case .length:
                let isMasked = byte & 0x80 != 0
                switch byte & 0x7F {
                case 126: part = .extendedLength(bytesLeft: 2, value: 0, isMasked: isMasked)
                case 127: part = .extendedLength(bytesLeft: 8, value: 0, isMasked: isMasked)
                case let length: settle(UInt64(length) + (isMasked ? 4 : 0), at: index, ended)
                }
            case .extendedLength(let left, let value, let isMasked):
                let value = value << 8 | UInt64(byte)
                if left > 1 {
                    part = .extendedLength(bytesLeft: left - 1, value: value, isMasked: isMasked)
                } else {
                    // An absurd length must never end, rather than wrap around to a short one.
                    settle(isMasked ? value.addingReportingOverflow(4).overflow ? .max : value + 4 : value, at: index, ended)
                }
            case .rest: break
            case .other: return
            }
        }
    }

    private mutating func readHead(_ byte: UInt8, _ seen: Int, at index: Int, _ ended: (Int) -> Void) {
        let end: [UInt8] = [13, 10, 13, 10]
        let now = byte == end[seen] ? seen + 1 : byte == end[0] ? 1 : 0
        guard now == end.count else {
            part = .head(endSeen: now)
            return
        }
        if status == Self.switching {
            part = .opcode
            ended(index)
        } else {
            part = .other
        }
    }

    /// Notes the number of bytes left of a frame. If there are none, the frame has ended.
    private mutating func settle(_ left: UInt64, at index: Int, _ ended: (Int) -> Void) {
        if left == 0 {
            part = .opcode
            ended(index)
        } else {
            part = .rest(left)
        }
    }
}
