#if os(Linux)
import Glibc
import Processes
@testable import PusherChannels

/// Starts only as many threads as a test allows.
final class FewThreads: Sendable {
    /// Receives a value for each thread that was refused.
    let refusals = Note<Void>()
    private let left = Locked(0)

    /// Allows this many more threads.
    func allow(_ count: Int) {
        left.withLock { $0 += count }
    }

    @Sendable func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let isThere = left.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        guard isThere else {
            refusals.send(())
            throw SystemError(number: EAGAIN)
        }
        try SystemThread.start(name, body)
    }
}
#endif
