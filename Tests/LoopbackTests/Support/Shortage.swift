#if os(Linux)
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
#endif
