import Dispatch
import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A proxy's only thread, which waits for its sockets, for its timers, and for jobs from other threads.
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
    /// The initial core, which the thread takes when it starts.
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
        // There is still a core only if the thread never ran.
        start.withLock { $0.take() }?.discard()
        Sockets.close(wakeReading)
        Sockets.close(wakeWriting)
    }

    /// The current counts, not those of the last turn: a byte that was just read is counted.
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

    /// Runs a job on the thread, with everything that follows from it at once, and returns when that is done. Does nothing after
    /// ``stop()``.
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

    /// Stops the thread, and returns when it has ended. Further calls only wait.
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
        // If the pipe is full, the thread wakes anyway.
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
        // Swift doesn't see the C library's function for this.
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
        // In whole milliseconds, rounded up: waking too early would mean waiting again and again.
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
    // Writing to a peer that is gone must fail with an error, not with SIGPIPE, no matter which code writes.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    if let reference { Unmanaged<ProxyThread>.fromOpaque(reference).takeRetainedValue().body() }
    return nil
}
