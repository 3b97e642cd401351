import Dispatch
import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The jobs that other threads give to a ``SocketThread``, and a pipe that wakes it for them.
final class SocketInbox<Core: SocketCore>: Sendable {
    typealias Job = @Sendable (inout Core) -> Void

    private struct State {
        var jobs: [(job: Job, done: DispatchSemaphore?)] = []
        var isStopping = false
        var hasStopped = false
    }

    private let state = Locked(State())
    private let reading: Int32
    private let writing: Int32

    init() throws(Sockets.Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Sockets.Failure("pipe") }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        Sockets.close(reading)
        Sockets.close(writing)
    }

    /// Runs a job on the thread soon, in the order of the calls. Does nothing after ``stop()``.
    func post(_ job: @escaping Job) {
        add(job, done: nil)
    }

    /// Runs a job on the thread, with everything that follows from it at once, and returns when that is done. Does nothing after
    /// ``stop()``. Must not be called on the thread.
    func perform(_ job: @escaping Job) {
        let done = DispatchSemaphore(value: 0)
        if add(job, done: done) { done.wait() }
    }

    /// Makes the thread close everything and end.
    func stop() {
        state.withLock { $0.isStopping = true }
        wake()
    }

    @discardableResult
    private func add(_ job: @escaping Job, done: DispatchSemaphore?) -> Bool {
        let (isAccepted, isFirst) = state.withLock { state in
            guard !state.hasStopped else { return (false, false) }
            state.jobs.append((job, done))
            return (true, state.jobs.count == 1)
        }
        if isFirst { wake() }
        return isAccepted
    }

    private func wake() {
        var byte: UInt8 = 0
        // If the pipe is full, the thread wakes anyway.
        _ = write(writing, &byte, 1)
    }

    // MARK: On the thread

    /// Returns the jobs that wait, and whether they are the last.
    func take() -> (jobs: [(job: Job, done: DispatchSemaphore?)], isLast: Bool) {
        state.withLock { state in
            defer { state.jobs.removeAll() }
            state.hasStopped = state.isStopping
            return (state.jobs, state.isStopping)
        }
    }

    /// The events to poll for beside those of the sockets.
    var polled: pollfd { pollfd(fd: reading, events: Int16(POLLIN), revents: 0) }

    /// Empties the pipe, before the jobs are taken.
    func drain() {
        var bytes = (0 as UInt64, 0 as UInt64)
        while read(reading, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    }
}
