import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A fault between a client and a server: one vocabulary for all test doubles.
///
/// Not every double supports every fault; see ``seams``. Doubles that share a fault give the client the same outcome.
public enum Fault: Hashable, Sendable {
    /// A position in the data that the server sends on a connection.
    public enum Position: Hashable, Sendable {
        /// After this number of bytes, including those of the upgrade response or the response head.
        case bytes(Int)
        /// After this number of WebSocket frames. The response to the upgrade isn't a frame, so 0 is the position right after it.
        case frames(Int)

        /// Before anything is sent.
        public static let start = Position.bytes(0)
    }

    /// A frame that RFC 6455 doesn't allow a server to send.
    public enum MalformedFrame: Hashable, Sendable, CaseIterable {
        /// An opcode that has no meaning.
        case unknownOpcode
        /// A reserved bit without an extension that gives it a meaning.
        case reservedBit
        /// A masked frame, which only clients send.
        case masked
        /// A ping that is split into fragments.
        case fragmentedControl
        /// A ping of more than 125 bytes.
        case oversizedControl
        /// A continuation frame with no message to continue.
        case orphanContinuation
    }

    /// The connection is refused because nothing listens.
    case refused
    /// The upgrade gets a response with this status instead of 101.
    case upgradeRefused(status: Int)
    /// The response to the upgrade has a wrong `Sec-WebSocket-Accept`.
    case wrongAcceptKey
    /// The connection is reset (RST).
    case reset(after: Position)
    /// The server ends its side (FIN) without a close frame, but goes on reading.
    case halfClose(after: Position)
    /// Nothing more arrives, though the connection stays open.
    case stall(after: Position)
    /// The connection ends in the middle of the data being sent.
    case truncate(after: Position)
    /// A frame that breaks the WebSocket protocol.
    case malformedFrame(MalformedFrame)
    /// A text frame whose bytes aren't valid UTF-8.
    case badUTF8
    /// Everything arrives later by this duration.
    case latency(Duration)
    /// At most this number of bytes arrives per second.
    case bandwidth(bytesPerSecond: Int)
    /// Bytes arrive in pieces of this size, with a pause between them.
    case dribble(bytes: Int, every: Duration)
    /// The request fails with this `URLSession` error.
    case error(URLError.Code)

    /// The connection is reset at once.
    public static let reset = Fault.reset(after: .start)
    /// The server ends its side at once.
    public static let halfClose = Fault.halfClose(after: .start)
    /// Nothing ever arrives.
    public static let stall = Fault.stall(after: .start)
}
