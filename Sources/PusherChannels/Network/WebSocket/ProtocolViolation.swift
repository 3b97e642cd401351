/// A breach of RFC 6455 by the peer, after which nothing it sends can be trusted (7.1.7).
package enum ProtocolViolation: Error, Equatable, Sendable {
    /// A server must not mask (5.1).
    case maskedFrame
    /// RSV1, RSV2 or RSV3 is set, though no extension gives them a meaning (5.2).
    case reservedBits
    /// An opcode that RFC 6455 reserves for the future (5.2).
    case unknownOpcode(UInt8)
    /// A length that has a shorter form (5.2).
    case lengthNotMinimal
    /// A 64-bit length with its highest bit set (5.2).
    case lengthOutOfRange
    /// A control frame with more than 125 bytes (5.5).
    case controlFrameTooLong
    /// A control frame without FIN (5.5).
    case fragmentedControlFrame
    /// A continuation without a message (5.4).
    case continuationWithoutStart
    /// A new message before the fragmented one ended (5.4).
    case messageInsideMessage
    /// A close frame with one byte, half of a code (5.5.1).
    case halfCloseCode
    /// A close code that may not be sent (7.4).
    case invalidCloseCode(UInt16)
    /// A close reason that is not UTF-8 (5.5.1).
    case invalidCloseReason
    /// A text message that is not UTF-8 (8.1).
    case invalidText
    /// A message larger than this end accepts (7.4.1), with the limit in bytes.
    case messageTooLarge(limit: Int)

    /// The close code for the peer (7.4.1).
    package var code: UInt16 {
        switch self {
        case .invalidText, .invalidCloseReason: 1007
        case .messageTooLarge: 1009
        default: 1002
        }
    }

    /// The description for the peer's log and ours; fits into a close frame.
    package var reason: String {
        switch self {
        case .maskedFrame: "masked frame from a server"
        case .reservedBits: "reserved bits set without an extension"
        case .unknownOpcode(let opcode): "unknown opcode \(opcode)"
        case .lengthNotMinimal: "length not in its shortest form"
        case .lengthOutOfRange: "length of more than 63 bits"
        case .controlFrameTooLong: "control frame of more than 125 bytes"
        case .fragmentedControlFrame: "fragmented control frame"
        case .continuationWithoutStart: "continuation frame outside a message"
        case .messageInsideMessage: "new message inside a fragmented one"
        case .halfCloseCode: "close frame with one byte"
        case .invalidCloseCode(let code): "close code \(code) may not be sent"
        case .invalidCloseReason: "close reason is not UTF-8"
        case .invalidText: "text message is not UTF-8"
        case .messageTooLarge(let limit): "message of more than \(limit) bytes"
        }
    }

    /// The failure to report to the socket's owner.
    package var failure: TransportError {
        TransportError(.protocolViolation, "The server broke the WebSocket protocol: \(reason)")
    }
}
