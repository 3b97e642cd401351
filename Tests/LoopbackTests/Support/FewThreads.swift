#if os(Linux)
import Glibc
import Processes
@testable import PusherChannels

/// As many threads as a test allows.
final class FewThreads: Sendable {
    /// Told of each thread that somebody wanted in vain.
    let refusals = Note<Void>()
    private let left = Locked(0)

    /// Has so many more be there.
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
