#if LocalServer
import FlyingFox
import Foundation

/// Assembles frames into messages (RFC 6455, 5.4).
struct MessageAssembler {
    private enum Message {
        case text(String)
        case ping(Data)
        case close(WSCloseCode)
    }

    private struct Violation: Error {
        let code: UInt16
        let reason: String
    }

    /// The largest number of bytes that a message may have.
    private let limit: Int
    private var partial: Data?

    private init(limit: Int) {
        self.limit = limit
    }

    /// Reads a client's frames until its connection ends, and returns the close frame to send to it.
    ///
    /// - Parameters:
    ///   - limit: The largest number of bytes that a message may have.
    ///   - receive: Takes each message.
    ///   - send: Sends the replies to pings.
    static func read(
        _ client: AsyncThrowingStream<WSFrame, any Error>, limit: Int, receive: (String) -> Void, send: (WSFrame) -> Void
    ) async -> WSFrame? {
        var messages = MessageAssembler(limit: limit)
        do {
            for try await frame in client {
                switch try messages.take(frame) {
                case .text(let text): receive(text)
                case .ping(let payload): send(WSFrame(fin: true, opcode: .pong, mask: nil, payload: payload))
                case .close(let code): return .close(code: code)
                case nil: break
                }
            }
            return nil
        } catch let violation as Violation {
            return .close(code: WSCloseCode(violation.code, reason: violation.reason))
        } catch {
            // The connection was reset or the reader cancelled: there is nobody left to send to.
            return nil
        }
    }

    /// Takes the next frame. Masking can't be checked here, because FlyingFox also accepts unmasked frames and keeps only the
    /// payload.
    private mutating func take(_ frame: WSFrame) throws(Violation) -> Message? {
        // No extension that gives them a meaning was negotiated.
        guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else { throw Violation(code: 1002, reason: "Reserved bits are set") }
        switch frame.opcode {
        case .text, .continuation:
            guard (frame.opcode == .continuation) == (partial != nil) else {
                throw Violation(code: 1002, reason: "Unexpected continuation")
            }
            guard (partial?.count ?? 0) + frame.payload.count <= limit else {
                throw Violation(code: 1009, reason: "The message is too long")
            }
            var payload = partial.take() ?? Data()
            payload.append(frame.payload)
            if frame.fin { return try text(payload) }
            partial = payload
            return nil
        case .ping, .pong, .close:
            guard frame.fin, frame.payload.count <= 125 else { throw Violation(code: 1002, reason: "Bad control frame") }
            switch frame.opcode {
            case .ping: return .ping(frame.payload)
            case .close: return .close(try closeCode(frame.payload))
            default: return nil
            }
        case .binary:
            throw Violation(code: 1003, reason: "Binary messages are not supported")
        default:
            throw Violation(code: 1002, reason: "Unknown opcode")
        }
    }

    private func text(_ payload: Data) throws(Violation) -> Message {
        guard let text = String(data: payload, encoding: .utf8) else {
            throw Violation(code: 1007, reason: "Invalid UTF-8")
        }
        return .text(text)
    }

    /// Returns the code to reply with: the client's own, or that of a normal closure if it sent none (RFC 6455, 5.5.1 and 7.4).
    private func closeCode(_ payload: Data) throws(Violation) -> WSCloseCode {
        let bytes = Array(payload)
        if bytes.isEmpty { return .normalClosure }
        guard bytes.count >= 2 else { throw Violation(code: 1002, reason: "Half a close code") }
        let code = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw Violation(code: 1002, reason: "A close code that may not be sent")
        }
        guard String(bytes: bytes[2...], encoding: .utf8) != nil else { throw Violation(code: 1007, reason: "Invalid UTF-8") }
        return WSCloseCode(code)
    }
}
#endif
