#if os(Linux)
import Foundation
import Glibc
import Processes
@testable import PusherChannels

/// Threads that can be waited for, and the sockets that they may be waiting at.
final class Workers: Sendable {
    private struct State {
        var sockets: Set<Int32> = []
        var isStopping = false
    }

    private let state = Locked(State())
    private let running = DispatchGroup()
    let name: String

    /// - Parameter name: The threads' name in the system's lists; 15 bytes at most.
    init(name: String) {
        self.name = name
    }

    /// Runs `body` on a thread of its own; not any more once these are stopped.
    func start(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard !state.isStopping else { return }
            running.enter()
            do throws(SystemError) {
                try SystemThread.start(name) { [running] in
                    body()
                    running.leave()
                }
            } catch {
                running.leave()
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

    /// Closes a socket; not at the same time as it is shut down from elsewhere, or its number might be another's by then.
    func close(_ descriptor: Int32) {
        state.withLock { state in
            if state.sockets.remove(descriptor) != nil { Glibc.close(descriptor) }
        }
    }

    /// Ends all sockets, and returns when nothing runs any more.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            state.sockets.forEach(shutDown)
        }
        running.wait()
    }
}

private func shutDown(_ socket: Int32) {
    for way in [SHUT_RD, SHUT_WR] { shutdown(socket, Int32(way)) }
}

/// A list of things that happened, in order, to be looked at or waited for.
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
