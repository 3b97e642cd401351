#if LocalServer
import FlyingFox
import Foundation
import PusherChannels

/// One WebSocket of a ``LocalServer``: FlyingFox's frames on one side, the server's machine on the other.
struct LocalServerSession: WSHandler {
    let core: LocalServerCore
    /// The upgrade request's path and query.
    let path: String

    func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
        let (frames, output) = AsyncStream.makeStream(of: WSFrame.self, bufferingPolicy: core.bufferingPolicy)
        let closeTimer = CloseTimer(core.closeTimeout)
        let id = core.open(path: path, output: output, closeTimer: closeTimer)
        let reader = SocketPoolSettings.$closeTimer.withValue(closeTimer) {
            Task {
                let reply = await read(client, as: id)
                core.end(id, saying: reply)
            }
        }
        // Writing failed, or the server is stopped.
        output.onTermination = { _ in reader.cancel() }
        core.setReader(reader, of: id)
        return AsyncStream {
            if let frame = await closeTimer.next(of: frames) { return frame }
            // Everything is written. When this closure returns, the connection is closed.
            await core.awaitEnd(of: client)
            return nil
        }
    }

    /// Reads until the connection ends, and returns the close frame to send to the client.
    private func read(_ client: AsyncThrowingStream<WSFrame, any Error>, as id: ServerMachine.ConnectionID) async -> WSFrame? {
        var messages = MessageAssembler(limit: core.largestBody)
        do {
            for try await frame in client {
                switch try messages.take(frame) {
                case .text(let text): core.receive(text, from: id)
                case .ping(let payload): core.send(WSFrame(fin: true, opcode: .pong, mask: nil, payload: payload), to: id)
                case .close(let code): return .close(code: code)
                case nil: break
                }
            }
            return nil
        } catch let violation as MessageAssembler.Violation {
            return .close(code: WSCloseCode(violation.code, reason: violation.reason))
        } catch {
            // The connection was reset or the reader cancelled: there is nobody left to send to.
            return nil
        }
    }
}

/// Assembles frames into messages (RFC 6455, 5.4).
struct MessageAssembler {
    enum Message {
        case text(String)
        case ping(Data)
        case close(WSCloseCode)
    }

    struct Violation: Error {
        let code: UInt16
        let reason: String
    }

    /// The largest number of bytes that a message may have.
    let limit: Int
    private var partial: Data?

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes the next frame. Masking can't be checked here, because FlyingFox also accepts unmasked frames and keeps only the
    /// payload.
    mutating func take(_ frame: WSFrame) throws(Violation) -> Message? {
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
