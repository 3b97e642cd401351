/// A frame on its way to a client (RFC 6455, 5.2).
struct OutgoingFrame: Sendable {
    let bytes: [UInt8]

    /// Creates a frame from its first byte (FIN, reserved bits and opcode) and its payload. A server doesn't mask, unless the frame
    /// is a fault.
    init(first: UInt8, _ payload: some Collection<UInt8>, mask: [UInt8]? = nil) {
        var bytes = [first]
        let (count, masked) = (payload.count, mask == nil ? 0 : 0x80 as UInt8)
        switch count {
        case ..<126: bytes.append(masked | UInt8(count))
        case ...Int(UInt16.max): bytes += [masked | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
        default: bytes += [masked | 127] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
        }
        if let mask {
            bytes += mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
        } else {
            bytes += payload
        }
        self.bytes = bytes
    }

    static func text(_ text: String) -> OutgoingFrame { OutgoingFrame(first: 0x81, text.utf8) }
    static func pong(_ payload: [UInt8]) -> OutgoingFrame { OutgoingFrame(first: 0x8A, payload) }
    static let ping = OutgoingFrame(first: 0x89, [])

    /// Returns a close frame (5.5.1), with as many whole characters of a long reason as fit.
    static func close(_ code: UInt16, reason: String = "") -> OutgoingFrame {
        var text = Array(reason.utf8)[...]
        if text.count > 123 { text = text[..<(text[...123].lastIndex { $0 & 0xC0 != 0x80 } ?? 0)] }
        return OutgoingFrame(first: 0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + text)
    }

    var isClose: Bool { bytes[0] & 0x0F == 0x8 }
}
