#if os(Linux)
import Dispatch
import Glibc
import Processes
@testable import PusherChannels
@testable import TestSupport

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
    private let left: Locked<Int>

    init(allowing count: Int = 0) { left = Locked(count) }

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

/// A listener with a full queue that accepts no connection: clients that connect to it get no response.
final class FullListener: Sendable {
    let port: Int
    private let listener: Int32
    private let fillers: [Int32]

    init(address: String = "127.0.0.1", port: Int = 0) throws {
        let listener = Self.makeSocket()
        self.listener = listener
        guard let own = SocketAddress(ip4: address, port: UInt16(port)), own.withPointer({ bind(listener, $0, $1) }) == 0,
            listen(listener, 0) == 0
        else { throw RawServer.Trouble.system("listen") }
        let bound = Loopback.port(of: listener)
        self.port = bound
        // One more than the queue has room for, so the queue is full when one of them has to wait.
        fillers = (0..<4).map { _ in
            let filler = Self.makeSocket()
            _ = own.with(port: UInt16(bound)).withPointer { connect(filler, $0, $1) }
            return filler
        }
    }

    deinit {
        for descriptor in fillers + [listener] { close(descriptor) }
    }

    private static func makeSocket() -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
}
#endif
