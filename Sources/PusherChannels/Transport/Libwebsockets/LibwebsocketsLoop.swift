#if canImport(CLibwebsockets)
import CLibwebsockets
import Foundation

/// A thread that serves connections, and the way to it.
///
/// ``shared`` serves all sockets that aren't given another; it starts with the first connection. One is enough for thousands
/// of connections. A service that receives more than one core can read makes several, and spreads its sockets over them:
///
/// ```swift
/// let loops = [LibwebsocketsLoop(), LibwebsocketsLoop()]
/// environment.makeWebSocket = { LibwebsocketsSocket(loop: loops.randomElement() ?? .shared) }
/// ```
public final class LibwebsocketsLoop: Sendable {
    typealias Command = @Sendable (LibwebsocketsService) -> Void

    /// The loop of all sockets that aren't given another.
    public static let shared = LibwebsocketsLoop()

    private struct State {
        var commands: [Command] = []
        var isRunning = false
        var context: OpaquePointer?
        var lastKey: UInt64 = 0
        /// Who waits for the thread to end.
        var stopping: [CheckedContinuation<Void, Never>] = []
    }

    let timeouts: OpeningTimeouts
    private let state = Locked(State())

    /// Creates a loop; its thread starts with the first connection.
    public convenience init() {
        self.init(timeouts: OpeningTimeouts())
    }

    init(timeouts: OpeningTimeouts) {
        self.timeouts = timeouts
    }

    /// Ends all connections at once, each with a report, and the thread; returns when it has ended.
    ///
    /// A socket that is opened afterwards starts it again. Don't wait for it on the loop's own thread, where delegates are called.
    public func shutdown() async {
        await withCheckedContinuation { continuation in
            let isRunning = state.withLock { state in
                guard state.isRunning else { return false }
                state.stopping.append(continuation)
                wake(state)
                return true
            }
            if !isRunning { continuation.resume() }
        }
    }

    /// A key that no other connection has.
    func makeKey() -> ConnectionKey {
        state.withLock { state in
            state.lastKey += 1
            return ConnectionKey(number: state.lastKey)
        }
    }

    /// Has a command run on the loop's thread, after all that were posted before; the first starts the thread.
    func post(_ command: @escaping Command) {
        let starts = state.withLock { state in
            state.commands.append(command)
            if state.commands.count == 1 { wake(state) }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Thread { self.run() }.start() }
    }

    /// The one call into libwebsockets that any thread may make; under the lock, so that the context is there.
    private func wake(_ state: State) {
        if let context = state.context { lws_cancel_service(context) }
    }

    // MARK: The thread

    private func run() {
        Thread.current.name = "pusher-lws"
        repeat { serve() } while hasMoreToDo()
    }

    /// Serves until somebody wants it to stop; without a context, until everybody was told so.
    private func serve() {
        let service = LibwebsocketsService(loop: self)
        state.withLock { $0.context = service.context }
        while true {
            // Commands first: what was posted before the context was published woke nobody.
            runCommands(on: service)
            let hasMore = service.settle()
            guard let context = service.context, state.withLock({ $0.stopping.isEmpty }) else { break }
            service.timers.arm(in: context)
            lws_service(context, hasMore ? -1 : 0)
        }
        state.withLock { $0.context = nil }
        service.stop()
    }

    /// Tells those who waited for the end; whether there are commands that came after it.
    private func hasMoreToDo() -> Bool {
        let (waiting, hasMore) = state.withLock { state in
            state.isRunning = !state.commands.isEmpty
            defer { state.stopping = [] }
            return (state.stopping, state.isRunning)
        }
        waiting.forEach { $0.resume() }
        return hasMore
    }

    private func runCommands(on service: LibwebsocketsService) {
        let commands = state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
        for command in commands {
            command(service)
        }
    }
}
#endif
