/// A message, a control frame or a violation in a stream.
enum StreamEvent: Equatable {
    case message(isText: Bool, [UInt8])
    case ping([UInt8])
    case pong([UInt8])
    /// A close frame, which is the last event.
    case close(code: UInt16, [UInt8])
    /// A violation, which is the last event, and the code that is sent to the server.
    case violation(code: UInt16)
}

/// A reader of a whole stream that follows the sections of RFC 6455 on frames, without regard to speed.
struct ReferenceReader {
    private var rest: ArraySlice<UInt8>
    private let limit: Int
    private var events: [StreamEvent] = []
    private var message: (isText: Bool, bytes: [UInt8])?

    private struct Violation: Error {
        let code: UInt16
    }

    /// Returns all events of the stream, up to its end, a close frame or a violation.
    static func events(of stream: ArraySlice<UInt8>, limit: Int) -> [StreamEvent] {
        var reader = ReferenceReader(rest: stream, limit: limit)
        do {
            while try reader.readFrame() {}
        } catch let violation as Violation {
            reader.events.append(.violation(code: violation.code))
        } catch {}
        return reader.events
    }

    private init(rest: ArraySlice<UInt8>, limit: Int) {
        self.rest = rest
        self.limit = limit
    }

    /// Reads a frame. Returns false at the end.
    private mutating func readFrame() throws -> Bool {
        guard let first = rest.popFirst() else { return false }
        // 5.2: reserved bits.
        guard (first >> 4) % 8 == 0 else { throw Violation(code: 1002) }
        guard let second = rest.popFirst() else { return false }
        // 5.1: masked.
        guard second < 128 else { throw Violation(code: 1002) }
        guard let length = try readLength(second) else { return false }
        let (isFinal, opcode) = (first >= 128, first % 16)
        switch opcode {
        case 0, 1, 2: return try readData(opcode, isFinal, length)
        case 8, 9, 10:
            // 5.5.
            guard isFinal, second <= 125 else { throw Violation(code: 1002) }
            return try readControl(opcode, Int(length))
        default: throw Violation(code: 1002)
        }
    }

    /// 5.2: the length, or nil at the end. Other faults of a frame are found once its length is complete.
    private mutating func readLength(_ second: UInt8) throws -> UInt64? {
        let size = second == 126 ? 2 : second == 127 ? 8 : 0
        guard rest.count >= size else { return nil }
        let bytes = rest.prefix(size)
        rest = rest.dropFirst(size)
        let length = size == 0 ? UInt64(second) : bytes.reduce(0) { $0 * 256 + UInt64($1) }
        let smallest: UInt64 = size == 2 ? 126 : size == 8 ? 65536 : 0
        guard length >= smallest, length < 1 << 63 else { throw Violation(code: 1002) }
        return length
    }

    /// 5.4 and 8.1.
    private mutating func readData(_ opcode: UInt8, _ isFinal: Bool, _ length: UInt64) throws -> Bool {
        guard (opcode == 0) == (message != nil) else { throw Violation(code: 1002) }
        var (isText, bytes) = message ?? (opcode == 1, [])
        guard length <= UInt64(limit - bytes.count) else { throw Violation(code: 1009) }
        let payload = rest.prefix(Int(length))
        rest = rest.dropFirst(payload.count)
        bytes += payload
        let isWhole = payload.count == Int(length)
        if isText, !(isWhole && isFinal ? isUTF8(bytes) : mayBecomeText(bytes)) { throw Violation(code: 1007) }
        if isWhole, isFinal {
            events.append(.message(isText: isText, bytes))
            message = nil
        } else {
            message = (isText, bytes)
        }
        return isWhole
    }

    /// 5.5.1 to 5.5.3.
    private mutating func readControl(_ opcode: UInt8, _ length: Int) throws -> Bool {
        guard rest.count >= length else { return false }
        let payload = Array(rest.prefix(length))
        rest = rest.dropFirst(length)
        switch opcode {
        case 9: events.append(.ping(payload))
        case 10: events.append(.pong(payload))
        default:
            guard !payload.isEmpty else {
                events.append(.close(code: 1005, []))
                return false
            }
            guard payload.count >= 2 else { throw Violation(code: 1002) }
            let code = UInt16(payload[0]) * 256 + UInt16(payload[1])
            guard sendableCodes.contains(code) else { throw Violation(code: 1002) }
            guard isUTF8(Array(payload[2...])) else { throw Violation(code: 1007) }
            events.append(.close(code: code, Array(payload[2...])))
            return false
        }
        return true
    }
}

/// The codes of 7.4, and those that IANA has registered since.
let sendableCodes = Set<UInt16>([1000, 1001, 1002, 1003] + Array(1007...1014) + Array(3000...4999))

/// Returns whether the standard library accepts the bytes as UTF-8.
func isUTF8(_ bytes: [UInt8]) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
}

/// Returns whether more bytes can turn these into text, as their last character may be incomplete.
private func mayBecomeText(_ bytes: [UInt8]) -> Bool {
    (0...min(3, bytes.count)).contains { cut in
        isUTF8(Array(bytes.dropLast(cut))) && mayBecomeCharacters(Array(bytes.suffix(cut)))
    }
}

/// Returns whether up to three continuation bytes make the bytes text. Each kind of first byte can be followed by one of these.
private func mayBecomeCharacters(_ bytes: [UInt8], room: Int = 3) -> Bool {
    isUTF8(bytes) || room > 0 && [0x80, 0x90, 0xA0].contains { mayBecomeCharacters(bytes + [$0], room: room - 1) }
}
