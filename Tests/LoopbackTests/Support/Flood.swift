#if os(Linux)
import Dispatch
import Foundation
import PusherChannels

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
