#if canImport(CLibwebsockets)
import Dispatch

/// Messages that take so long to read that a loop, which serves others too, doesn't do it.
enum LargeMessages {
    /// What is smaller takes less than the 50 ms that others may have to wait, however it is made.
    static let size = 1 << 20

    private static let queue = DispatchQueue(label: "pusher-channels.large-messages")

    /// Has something done by another thread. One after the other, as each may take much memory.
    static func perform(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }
}
#endif
