#if canImport(CLibwebsockets)

/// A thread that serves connections, and the interface to it.
///
/// ``shared`` serves all sockets and HTTP sessions that aren't given another loop; it starts with the first connection. One is
/// enough for thousands of connections. A loop that you create lives, with its thread, until ``shutdown()``. A service that
/// receives more than one core can read creates several, and spreads its sockets over them:
///
/// ```swift
/// let loops = [NetworkLoop(), NetworkLoop()]
/// environment.makeWebSocket = { NetworkWebSocket(loop: loops.randomElement() ?? .shared) }
/// ```
public final class NetworkLoop: Sendable {
    typealias Command = @Sendable (EventLoop) -> Void

    /// The loop of all sockets and HTTP sessions that aren't given another one.
    public static let shared = NetworkLoop()

    private struct State {
        var commands: [Command] = []
        /// The number of commands for which the thread must run. The others concern connections, of which there are none without
        /// it.
        var needs = 0
        var isRunning = false
        var wakeUp: WakeUp?
        var lastKey: UInt64 = 0
        /// The callers that wait for the thread to end, in the order in which they asked.
        var shutdowns: [CheckedContinuation<Void, Never>] = []
        /// The number of those callers for whom every command that was posted before they asked is done. An empty queue isn't
        /// required, because others may post commands in every turn.
        var shutdownsDue = 0
    }

    let environment: NetworkEnvironment
    private let state = Locked(State())

    /// Creates a loop; its thread starts with the first connection.
    public convenience init() {
        self.init(environment: NetworkEnvironment())
    }

    init(environment: NetworkEnvironment) {
        self.environment = environment
    }

    /// Ends all connections and requests at once, each with a report, and the thread; returns when the thread has ended.
    ///
    /// Everything that was requested before is done first. A socket that is opened afterwards, or a request, starts the loop
    /// again. Don't wait for this on the loop's own thread, where delegates are called.
    public func shutdown() async {
        await withCheckedContinuation { continuation in
            let isRunning = state.withLock { state in
                guard state.isRunning else { return false }
                state.shutdowns.append(continuation)
                wake(state)
                return true
            }
            if !isRunning { continuation.resume() }
        }
    }

    /// Indicates whether there is a thread.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// A key that no other connection has.
    func makeKey() -> LoopKey {
        state.withLock { state in
            state.lastKey += 1
            return LoopKey(number: state.lastKey)
        }
    }

    /// Runs a command on the loop's thread, after all that were posted before; starts the thread.
    ///
    /// If there can't be one, the command is told so before this call returns, so the caller must not hold a lock that it may
    /// need.
    func start(_ command: @escaping Command) {
        if enqueue(command) { launch() }
    }

    /// Does the first part of ``start(_:)``, which may be done under a lock. Returns whether the second part, ``launch()``, must
    /// follow.
    func enqueue(_ command: @escaping Command) -> Bool {
        state.withLock { state in
            state.needs += 1
            append(command, to: &state)
            defer { state.isRunning = true }
            return !state.isRunning
        }
    }

    func launch() {
        var goesOn: Bool
        repeat {
            do throws(SystemError) {
                return try environment.startThread("pusher-lws") { self.run() }
            } catch {
                goesOn = serve { EventLoop(owner: self, failure: .noLoop(error.text)) }
            }
        } while goesOn
    }

    /// Runs a command on the loop's thread, after all that were posted before; drops it if the thread doesn't run.
    func post(_ command: @escaping Command) {
        state.withLock { state in
            if state.isRunning { append(command, to: &state) }
        }
    }

    private func append(_ command: @escaping Command, to state: inout State) {
        state.commands.append(command)
        if state.commands.count == 1 { wake(state) }
    }

    /// Called under the lock, so the event loop is still there.
    private func wake(_ state: State) {
        state.wakeUp?()
    }

    // MARK: The thread

    private func run() {
        while serve({ EventLoop(owner: self) }) {}
    }

    /// Serves until it is asked to stop; returns whether there is more to do.
    private func serve(_ makeLoop: () -> EventLoop) -> Bool {
        let waiting = serveUntilEnd(makeLoop)
        // Decided before the callers are resumed, and with the event loop gone, because they must find that the end has come.
        let goesOn = isNeeded()
        waiting.forEach { $0.resume() }
        return goesOn
    }

    /// Serves until it is asked to stop, and returns the callers that asked. A loop that can't serve stops once everybody was
    /// told so.
    private func serveUntilEnd(_ makeLoop: () -> EventLoop) -> [CheckedContinuation<Void, Never>] {
        let loop = makeLoop()
        state.withLock { $0.wakeUp = loop.wakeUp }
        while true {
            // Commands first: those posted before the wake-up was published woke nobody.
            runCommands(on: loop)
            let hasMore = loop.settle()
            if let waiting = waitingForEnd(of: loop) {
                loop.shutDown()
                return waiting
            }
            loop.wait(hasMore ? .notAtAll : .untilNext)
        }
    }

    /// Returns the callers that wait for the end if it is time to stop. The commands that were posted before they asked come
    /// first. A loop that can't serve stops as soon as everybody who was there was told so; later callers ask for another try.
    private func waitingForEnd(of loop: EventLoop) -> [CheckedContinuation<Void, Never>]? {
        state.withLock { state in
            let due = state.commands.isEmpty ? state.shutdowns.count : state.shutdownsDue
            guard loop.failure != nil || due > 0 else { return nil }
            state.wakeUp = nil
            state.shutdownsDue = 0
            defer { state.shutdowns.removeFirst(due) }
            return Array(state.shutdowns.prefix(due))
        }
    }

    /// Returns whether a caller opened something, or asked for a stop, after the loop had stopped.
    private func isNeeded() -> Bool {
        state.withLock { state in
            state.isRunning = state.needs > 0 || !state.shutdowns.isEmpty
            if !state.isRunning { state.commands = [] }
            return state.isRunning
        }
    }

    private func runCommands(on loop: EventLoop) {
        let commands = state.withLock { state in
            defer {
                state.commands = []
                state.needs = 0
                state.shutdownsDue = state.shutdowns.count
            }
            return state.commands
        }
        for command in commands {
            command(loop)
        }
    }
}

/// Identifies one connection, and with it one `open` of a socket.
struct LoopKey: Hashable, Sendable {
    let number: UInt64
}
#endif
