import Dispatch
import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The one thread of a proxy: waits for its sockets, for the time, and for what other threads ask of it.
final class ProxyThread: Sendable {
    /// The thread's name in the system's lists.
    static let name = "fault-proxy"

    typealias Job = @Sendable (inout ProxyCore) -> Void

    private struct Inbox {
        var jobs: [(job: Job, done: DispatchSemaphore)] = []
        var isStopping = false
        var hasStopped = false
    }

    private let inbox = Locked(Inbox())
    private let latestCounts = Locked(ProxyCounts())
    /// The core that the thread begins with; it takes it.
    private let start: Locked<ProxyCore?>
    private let thread = Locked<pthread_t?>(nil)
    private let wakeReading: Int32
    private let wakeWriting: Int32

    init(_ core: ProxyCore) throws(Sockets.Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            let failure = Sockets.Failure("pipe")
            core.discard()
            throw failure
        }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (wakeReading, wakeWriting) = (ends[0], ends[1])
        start = Locked(core)
    }

    deinit {
        // Only where it never ran.
        start.withLock { $0.take() }?.discard()
        Sockets.close(wakeReading)
        Sockets.close(wakeWriting)
    }

    /// As of now, not of the last turn: a byte that was just read is counted.
    var counts: ProxyCounts {
        perform { _ in }
        return latestCounts.withLock { $0 }
    }

    func run() throws(Sockets.Failure) {
        let reference = Unmanaged.passRetained(self).toOpaque()
        let result = thread.withLock { thread in
            #if canImport(Darwin)
            return pthread_create(&thread, nil, { proxyThreadBody($0) }, reference)
            #else
            var id = pthread_t()
            let result = pthread_create(&id, nil, { proxyThreadBody($0) }, reference)
            if result == 0 { thread = id }
            return result
            #endif
        }
        guard result == 0 else {
            Unmanaged<ProxyThread>.fromOpaque(reference).release()
            errno = result
            throw Sockets.Failure("pthread_create")
        }
    }

    /// Has the thread do something, and all that follows from it at once; does nothing once it was stopped.
    func perform(_ job: @escaping Job) {
        let done = DispatchSemaphore(value: 0)
        let isAccepted = inbox.withLock { inbox in
            guard !inbox.hasStopped else { return false }
            inbox.jobs.append((job, done))
            return true
        }
        guard isAccepted else { return }
        wake()
        done.wait()
    }

    /// Returns when the thread has ended; the first call ends it.
    func stop() {
        inbox.withLock { $0.isStopping = true }
        wake()
        thread.withLock { thread in
            if let id = thread { pthread_join(id, nil) }
            thread = nil
        }
    }

    private func wake() {
        var byte: UInt8 = 0
        // A full pipe wakes, too.
        _ = write(wakeWriting, &byte, 1)
    }

    // MARK: On the thread

    fileprivate func body() {
        nameThread()
        guard var core = start.withLock({ $0.take() }) else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        let clock = LiveScheduler()
        while true {
            let (jobs, isLast) = inbox.withLock { inbox in
                defer { inbox.jobs.removeAll() }
                inbox.hasStopped = inbox.isStopping
                return (inbox.jobs, inbox.isStopping)
            }
            for (job, _) in jobs { job(&core) }
            if isLast { core.close() }
            if !isLast { core.turn(at: clock.now, with: buffer) }
            var counts = core.counts
            if isLast { counts.open = 0 }
            latestCounts.withLock { $0 = counts }
            for (_, done) in jobs { done.signal() }
            if isLast { return }
            wait(&core, clock)
        }
    }

    private func nameThread() {
        #if os(Linux)
        // The C library's call for it is none that Swift sees.
        let comm = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard comm >= 0 else { return }
        _ = write(comm, Self.name, Self.name.utf8.count)
        close(comm)
        #else
        pthread_setname_np(Self.name)
        #endif
    }

    private func wait(_ core: inout ProxyCore, _ clock: LiveScheduler) {
        var polled = [pollfd(fd: wakeReading, events: Int16(POLLIN), revents: 0)] + core.polled()
        // In whole milliseconds, and rather too late than again and again too early.
        let timeout = core.nextWake.map { min(60_000, max(0, (($0 - clock.now) / .milliseconds(1)).rounded(.up))) }
        let count = poll(&polled, nfds_t(polled.count), timeout.map { Int32($0) } ?? -1)
        guard count > 0 else { return }
        if polled[0].revents != 0 {
            var bytes = (0 as UInt64, 0 as UInt64)
            while read(wakeReading, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
        }
        core.look(at: polled.dropFirst())
    }
}

private func proxyThreadBody(_ reference: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // Writing to a peer that is gone must be an error, whoever writes.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    if let reference { Unmanaged<ProxyThread>.fromOpaque(reference).takeRetainedValue().body() }
    return nil
}
