#if os(Linux)
import Dispatch
import Foundation
import Glibc
import Processes
import PusherChannels

/// Messages whose numbers show if one is missing, early or damaged.
enum Numbered {
    /// Returns the message with a number: from a few bytes to more than one read brings, with each length of a frame's header
    /// among them.
    static func bytes(_ number: Int) -> [UInt8] {
        let size = number % 64 == 63 ? 70_000 : number * 37 % 2000
        return Array("\(number) ".utf8) + [UInt8](repeating: UInt8(97 + number % 26), count: size)
    }

    static func text(_ number: Int) -> String { String(decoding: bytes(number), as: UTF8.self) }

    /// Returns whether a message is the one with that number. Compares in a single call, because tests check megabytes.
    static func isRight(_ message: UnsafeRawBufferPointer, _ number: Int) -> Bool {
        bytes(number).withUnsafeBytes { expected in
            guard let left = expected.baseAddress, let right = message.baseAddress else { return false }
            return expected.count == message.count && memcmp(left, right, message.count) == 0
        }
    }

    static func isRight(_ message: [UInt8], _ number: Int) -> Bool { message.withUnsafeBytes { isRight($0, number) } }
}

/// A delegate that checks numbered messages as they arrive, up to one that begins with "end".
final class NumberedDelegate: WebSocketDelegate {
    private struct State {
        var count = 0
        var firstWrong: Int?
    }

    private let state = Locked(State())
    private let opened = Note<Void>()
    private let last = Note<String>()

    /// The number of messages received.
    var count: Int { state.withLock { $0.count } }
    /// The position of the first message that wasn't the one with that number.
    var firstWrong: Int? { state.withLock { $0.firstWrong } }

    func untilOpen() async { await opened.next() }
    /// Returns the next message that begins with "end".
    func end() async -> String? { await last.next() }

    func webSocketDidOpen(attempt: ConnectionAttempt) { opened.send(()) }

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        messages.forEach { _, bytes in
            if bytes.starts(with: Array("end".utf8)) { return last.send(String(decoding: bytes, as: UTF8.self)) }
            state.withLock { state in
                if state.firstWrong == nil, !Numbered.isRight(bytes, state.count) { state.firstWrong = state.count }
                state.count += 1
            }
        }
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {}
}

/// Numbered messages that a server sends, one after the other, as fast as the client takes them.
final class Flood: Sendable {
    private let isStopping = Locked(false)
    private let ended = DispatchSemaphore(value: 0)
    private let count = Locked(0)

    init(over connection: RawConnection) {
        let thread = Thread { [isStopping, ended, count] in
            defer { ended.signal() }
            while !isStopping.withLock({ $0 }) {
                let number = count.withLock { $0 }
                guard (try? connection.send(Frame(opcode: 1, payload: Numbered.bytes(number)))) != nil else { return }
                count.withLock { $0 += 1 }
            }
        }
        thread.start()
    }

    /// Ends the flood after a whole message, and returns the number of messages.
    func stop() -> Int {
        isStopping.withLock { $0 = true }
        ended.wait()
        return count.withLock { $0 }
    }
}
#endif
