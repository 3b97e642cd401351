/// The payload of a close frame: nothing, or a code and a reason (RFC 6455, 5.5.1).
enum ClosePayload {
    /// The code that stands for a close frame without one, and is never sent (7.4.1).
    static let noCode: UInt16 = 1005
    /// The room for the reason beside the code.
    private static let maximumReason = maximumControlPayload - 2

    /// Returns whether a code may be sent in a frame (7.4): it is defined and not for local use, or belongs to a library or an
    /// application.
    static func isAllowed(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Parses a close frame's payload.
    static func read(
        _ payload: UnsafeRawBufferPointer
    ) throws(ProtocolViolation) -> (code: UInt16, reason: UnsafeRawBufferPointer) {
        guard !payload.isEmpty else { return (noCode, payload) }
        guard payload.count >= 2 else { throw .halfCloseCode }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard isAllowed(code) else { throw .invalidCloseCode(code) }
        let reason = UnsafeRawBufferPointer(rebasing: payload[2...])
        guard UTF8Validator.isText(reason) else { throw .invalidCloseReason }
        return (code, reason)
    }

    /// Returns the payload for a code and a reason: empty if the code must not be sent, and with as many whole characters of a
    /// long reason as fit.
    static func bytes(code: UInt16, reason: String) -> [UInt8] {
        guard isAllowed(code) else { return [] }
        var bytes = [UInt8(code >> 8), UInt8(code & 0xFF)]
        let text = Array(reason.utf8)
        var end = min(text.count, maximumReason)
        while end > 0, end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
        bytes.append(contentsOf: text[..<end])
        return bytes
    }
}
