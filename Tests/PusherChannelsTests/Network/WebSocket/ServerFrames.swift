@testable import PusherChannels

/// A frame from a server, valid or not.
struct ServerFrame {
    var opcode: UInt8
    var payload: [UInt8]
    var isFinal = true
    var reserved: UInt8 = 0
    var isMasked = false

    static func text(_ text: String, isFinal: Bool = true) -> [UInt8] {
        ServerFrame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal).bytes
    }

    static func binary(_ bytes: [UInt8], isFinal: Bool = true) -> [UInt8] {
        ServerFrame(opcode: 2, payload: bytes, isFinal: isFinal).bytes
    }

    static func more(_ text: String, isFinal: Bool) -> [UInt8] {
        ServerFrame(opcode: 0, payload: Array(text.utf8), isFinal: isFinal).bytes
    }

    static func ping(_ text: String) -> [UInt8] { ServerFrame(opcode: 9, payload: Array(text.utf8)).bytes }

    static func pong(_ text: String) -> [UInt8] { ServerFrame(opcode: 10, payload: Array(text.utf8)).bytes }

    static func close(_ code: UInt16, _ reason: String = "") -> [UInt8] {
        ServerFrame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8)).bytes
    }

    var bytes: [UInt8] {
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case ..<126: bytes.append(mask | UInt8(payload.count))
        case ..<65536: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: bytes += [mask | 127] + (0..<8).reversed().map { UInt8(payload.count >> (8 * $0) & 0xFF) }
        }
        return bytes + (isMasked ? [0, 0, 0, 0] : []) + payload
    }
}

/// An event or error from a reader, copied for comparison.
enum Heard: Equatable {
    case text(String)
    case binary([UInt8])
    case ping(String)
    case pong(String)
    case close(UInt16, String)
    case violation(ProtocolViolation)
}

extension Heard {
    /// Reads the pieces in order; the messages of each piece are copied only after all of the piece is read.
    static func reading(_ pieces: [[UInt8]], maximumSize: Int = 1 << 20) -> [Heard] {
        var reader = MessageReader(maximumSize: maximumSize)
        var heard: [Heard] = []
        for piece in pieces {
            piece.withUnsafeBytes { bytes in
                var events: [() -> Heard] = []
                var cursor = ByteCursor(bytes)
                do throws(ProtocolViolation) {
                    while let event = try reader.next(in: &cursor) { events.append(later(event)) }
                } catch {
                    events.append { .violation(error) }
                }
                heard += events.map { $0() }
                reader.release()
            }
        }
        return heard
    }

    static func reading(_ bytes: [UInt8], maximumSize: Int = 1 << 20) -> [Heard] {
        reading([bytes], maximumSize: maximumSize)
    }

    /// A message stays valid until the whole piece is read, but the payload of a control frame is valid only now.
    private static func later(_ event: MessageReader.Event) -> () -> Heard {
        func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
        let heard: Heard
        switch event {
        case .message(.text, let bytes): return { .text(text(bytes)) }
        case .message(.binary, let bytes): return { .binary(Array(bytes)) }
        case .ping(let payload): heard = .ping(text(payload))
        case .pong(let payload): heard = .pong(text(payload))
        case .close(let code, let reason): heard = .close(code, text(reason))
        }
        return { heard }
    }
}
