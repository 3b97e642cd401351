#if os(Linux)
import Dispatch
import Glibc
import PusherChannels

/// A process that has few descriptors left, or none. For tests in a process of their own.
final class DescriptorShortage: Sendable {
    private let fillers = Locked<[Int32]>([])

    /// Leaves so many, once the system's pool of threads has those of its own: it takes them some time after its first thread, and ends
    /// the process where there are none.
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

    /// Gives all of them back.
    func end() {
        fillers.withLock { fillers in
            for descriptor in fillers { close(descriptor) }
            fillers = []
        }
    }
}
#endif
