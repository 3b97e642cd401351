import Dispatch
import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Sockets and what is done with them. Used on a ``SocketThread`` only.
protocol SocketCore: SendableMetatype {
    /// Numbers that other threads may read.
    associatedtype Counts: Sendable

    var counts: Counts { get }

    /// Does everything that can be done now.
    mutating func turn(at now: Instant, with buffer: UnsafeMutableRawBufferPointer)

    /// The next time at which something is due without an event.
    var nextWake: Instant? { get }

    /// Returns the events to poll for.
    func polled() -> [pollfd]

    /// Takes what was polled, before the next turn.
    mutating func look(at polled: ArraySlice<pollfd>)

    /// Closes everything.
    mutating func close()
}

/// The only thread of some sockets: it waits for them, for their timers, and for jobs from other threads.
final class SocketThread<Core: SocketCore>: Sendable {
    let inbox: SocketInbox<Core>
    private let latestCounts: Locked<Core.Counts>
    /// The initial core, which the thread takes when it starts.
    private let start: Locked<Core?>
    private let thread = Locked<pthread_t?>(nil)
    private let name: String

    /// Creates a thread that runs once ``run()`` is called.
    /// - Parameter name: The thread's name in the system's lists, of at most 15 bytes.
    init(_ name: String, _ core: Core, inbox: SocketInbox<Core>) {
        self.name = name
        self.inbox = inbox
        latestCounts = Locked(core.counts)
        start = Locked(core)
    }

    deinit {
        // There is still a core only if the thread never ran.
        if var core = start.withLock({ $0.take() }) { core.close() }
        // Otherwise what is left of a thread that nobody waited for would stay.
        if let id = thread.withLock({ $0 }) { pthread_detach(id) }
    }

    /// The current counts, not those of the last turn: a byte that was just read is counted.
    var counts: Core.Counts {
        inbox.perform { _ in }
        return latestCounts.withLock { $0 }
    }

    func run() throws(Sockets.Failure) {
        let body = Unmanaged.passRetained(ThreadBody { self.body() }).toOpaque()
        let result = thread.withLock { thread in
            #if canImport(Darwin)
            return pthread_create(&thread, nil, { runThreadBody($0) }, body)
            #else
            var id = pthread_t()
            let result = pthread_create(&id, nil, { runThreadBody($0) }, body)
            if result == 0 { thread = id }
            return result
            #endif
        }
        guard result == 0 else {
            Unmanaged<ThreadBody>.fromOpaque(body).release()
            errno = result
            throw Sockets.Failure("pthread_create")
        }
    }

    /// Stops the thread, and returns when it has ended. Further calls only wait.
    func stop() {
        inbox.stop()
        thread.withLock { thread in
            if let id = thread { pthread_join(id, nil) }
            thread = nil
        }
    }

    // MARK: On the thread

    private func body() {
        nameThread()
        guard var core = start.withLock({ $0.take() }) else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        let clock = LiveScheduler()
        while true {
            let (jobs, isLast) = inbox.take()
            for (job, _) in jobs { job(&core) }
            if isLast { core.close() } else { core.turn(at: clock.now, with: buffer) }
            latestCounts.withLock { $0 = core.counts }
            for (_, done) in jobs { done?.signal() }
            if isLast { return }
            wait(&core, clock)
        }
    }

    private func nameThread() {
        #if os(Linux)
        // Swift doesn't see the C library's function for this.
        let comm = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard comm >= 0 else { return }
        _ = write(comm, name, name.utf8.count)
        close(comm)
        #else
        pthread_setname_np(name)
        #endif
    }

    private func wait(_ core: inout Core, _ clock: LiveScheduler) {
        var polled = [inbox.polled] + core.polled()
        // In whole milliseconds, rounded up: waking too early would mean waiting again and again.
        let timeout = core.nextWake.map { min(60_000, max(0, (($0 - clock.now) / .milliseconds(1)).rounded(.up))) }
        let count = poll(&polled, nfds_t(polled.count), timeout.map { Int32($0) } ?? -1)
        guard count > 0 else { return }
        if polled[0].revents != 0 { inbox.drain() }
        core.look(at: polled.dropFirst())
    }
}

/// The code that a thread runs, in the form that the C function takes.
private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

private func runThreadBody(_ reference: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // Writing to a peer that is gone must fail with an error, not with SIGPIPE, no matter which code writes.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    if let reference { Unmanaged<ThreadBody>.fromOpaque(reference).takeRetainedValue().run() }
    return nil
}
