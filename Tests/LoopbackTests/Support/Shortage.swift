#if os(Linux)
import Processes
@testable import PusherChannels
import Dispatch
import Glibc
import PusherChannels

/// A shortage of descriptors in this process, which has few left, or none. For tests that run in their own process.
final class DescriptorShortage: Sendable {
    private let fillers = Locked<[Int32]>([])

    /// Leaves `count` descriptors once the system's thread pool has its own: it takes them some time after its first thread, and
    /// ends the process if there are none.
    init(leaving count: Int) {
        let hasStarted = DispatchSemaphore(value: 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { hasStarted.signal() }
        hasStarted.wait()
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_cur, 256)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        fillers.withLock { fillers in
            while case let descriptor = dup(STDERR_FILENO), descriptor >= 0 { fillers.append(descriptor) }
            for _ in 0..<min(count, fillers.count) { close(fillers.removeLast()) }
        }
    }

    /// Closes all descriptors that were taken.
    func end() {
        fillers.withLock { fillers in
            for descriptor in fillers { close(descriptor) }
            fillers = []
        }
    }
}

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
