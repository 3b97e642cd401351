#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels

/// Threads that can be waited for, and the sockets that they may be waiting at.
final class Workers: Sendable {
    private struct State {
        var threads: [pthread_t] = []
        var sockets: Set<Int32> = []
        var isStopping = false
    }

    private let state = Locked(State())
    let name: String

    /// - Parameter name: What the threads are called in the system's lists; 15 bytes at most.
    init(name: String) {
        self.name = name
    }

    /// Runs `body` on a thread of its own; not any more once these are stopped.
    func start(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard !state.isStopping else { return }
            let work = Unmanaged.passRetained(Work(name: name, body: body))
            var thread = pthread_t()
            if pthread_create(&thread, nil, { runWork($0) }, work.toOpaque()) == 0 {
                state.threads.append(thread)
            } else {
                work.release()
            }
        }
    }

    /// Takes charge of a socket. Once these are stopped it is closed, and the result is `false`.
    func open(_ descriptor: Int32) -> Bool {
        let isOpen = state.withLock { state in
            guard !state.isStopping else { return false }
            state.sockets.insert(descriptor)
            return true
        }
        if !isOpen { Glibc.close(descriptor) }
        return isOpen
    }

    /// Closes a socket.
    ///
    /// - Parameter close: How; not at the same time as it is shut down from elsewhere, or its number might be another's by then.
    func close(_ descriptor: Int32, by close: (Int32) -> Void = { Glibc.close($0) }) {
        state.withLock { state in
            if state.sockets.remove(descriptor) != nil { close(descriptor) }
        }
    }

    /// Ends all sockets, and returns when all threads have ended.
    func stop() {
        let threads = state.withLock { state in
            state.isStopping = true
            state.sockets.forEach(shutDown)
            defer { state.threads = [] }
            return state.threads
        }
        for thread in threads { pthread_join(thread, nil) }
    }
}

private func shutDown(_ socket: Int32) {
    for way in [SHUT_RD, SHUT_WR] { shutdown(socket, Int32(way)) }
}

private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runWork(_ reference: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let reference else { return nil }
    let work = Unmanaged<Work>.fromOpaque(reference).takeRetainedValue()
    // The C library's call for it is none that Swift sees.
    let comm = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    if comm >= 0 {
        _ = write(comm, work.name, work.name.utf8.count)
        close(comm)
    }
    work.body()
    return nil
}

/// What happened, in order, to be looked at or waited for.
final class Record<Value: Sendable>: Sendable {
    private let values = Locked<[Value]>([])
    private let note = Note<Value>()

    /// Everything so far.
    var all: [Value] { values.withLock { $0 } }

    func append(_ value: Value) {
        values.withLock { $0.append(value) }
        note.send(value)
    }

    /// The next one that this hasn't given back yet; nil when the waiting task was cancelled.
    func next() async -> Value? {
        await note.next()
    }
}
#endif
