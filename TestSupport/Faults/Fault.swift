import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A fault between a client and a server: one vocabulary for all test doubles.
///
/// Not every double can do everything; ``seams`` tells who can. Those that share a fault give the client the same outcome.
public enum Fault: Hashable, Sendable {
    /// A place in what the server sends on a connection.
    public enum Position: Hashable, Sendable {
        /// After so many bytes, those of the upgrade or the response head among them.
        case bytes(Int)
        /// After so many WebSocket frames; the answer to the upgrade is none, so that 0 is the place right after it.
        case frames(Int)

        /// Before anything is sent.
        public static let start = Position.bytes(0)
    }

    /// A frame that RFC 6455 doesn't allow a server to send.
    public enum MalformedFrame: Hashable, Sendable, CaseIterable {
        /// An opcode that means nothing.
        case unknownOpcode
        /// A reserved bit without an extension that gives it a meaning.
        case reservedBit
        /// A masked frame, which only clients send.
        case masked
        /// A ping that comes in parts.
        case fragmentedControl
        /// A ping of more than 125 bytes.
        case oversizedControl
        /// A continuation of nothing.
        case orphanContinuation
    }

    /// Nobody listens: the connection is refused.
    case refused
    /// The upgrade is answered with this status instead of 101.
    case upgradeRefused(status: Int)
    /// The upgrade's answer carries a `Sec-WebSocket-Accept` that doesn't fit.
    case wrongAcceptKey
    /// The connection is reset (RST).
    case reset(after: Position)
    /// The server's side ends without a close frame (FIN) while it goes on reading.
    case halfClose(after: Position)
    /// Nothing comes any more, though the connection stays.
    case stall(after: Position)
    /// The connection ends in the middle of what was being sent.
    case truncate(after: Position)
    /// A frame that breaks the WebSocket protocol.
    case malformedFrame(MalformedFrame)
    /// A text frame whose bytes are no UTF-8.
    case badUTF8
    /// Everything comes so much later.
    case latency(Duration)
    /// No more than so many bytes come in a second.
    case bandwidth(bytesPerSecond: Int)
    /// Bytes come in pieces of so many bytes, with a pause between them.
    case dribble(bytes: Int, every: Duration)
    /// The error that `URLSession` reports.
    case error(URLError.Code)

    /// The connection is reset at once.
    public static let reset = Fault.reset(after: .start)
    /// The server's side ends at once.
    public static let halfClose = Fault.halfClose(after: .start)
    /// Nothing ever comes.
    public static let stall = Fault.stall(after: .start)
}
