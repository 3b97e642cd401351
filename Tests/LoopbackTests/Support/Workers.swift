#if os(Linux)
import Foundation
import Glibc
import Processes
@testable import PusherChannels

/// Threads that can be waited for, and the sockets on which they may be waiting.
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

    /// Runs `body` on a new thread, unless the workers have been stopped.
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

    /// Takes charge of a socket. If the workers have been stopped, closes it and returns `false`.
    func open(_ descriptor: Int32) -> Bool {
        let isOpen = state.withLock { state in
            guard !state.isStopping else { return false }
            state.sockets.insert(descriptor)
            return true
        }
        if !isOpen { Glibc.close(descriptor) }
        return isOpen
    }

    /// Closes a socket, but not while another thread shuts it down, which might then hit a new socket with the same number.
    func close(_ descriptor: Int32) {
        state.withLock { state in
            if state.sockets.remove(descriptor) != nil { Glibc.close(descriptor) }
        }
    }

    /// Shuts down all sockets, and returns when no thread runs any more.
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

/// A list of values in order, to be inspected or waited for.
final class Record<Value: Sendable>: Sendable {
    private let values = Locked<[Value]>([])
    private let note = Note<Value>()

    /// All values so far.
    var all: [Value] { values.withLock { $0 } }

    func append(_ value: Value) {
        values.withLock { $0.append(value) }
        note.send(value)
    }

    /// Returns the next value that this hasn't returned yet; nil if the waiting task was cancelled.
    func next() async -> Value? {
        await note.next()
    }
}
#endif
