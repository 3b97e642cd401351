#if canImport(CLibwebsockets)

/// A thread that serves connections, and the way to it.
///
/// ``shared`` serves all sockets and HTTP sessions that aren't given another; it starts with the first connection. One is enough
/// for thousands of connections. A loop of one's own lives, with its thread, until ``shutdown()``. A service that receives more
/// than one core can read makes several, and spreads its sockets over them:
///
/// ```swift
/// let loops = [NetworkLoop(), NetworkLoop()]
/// environment.makeWebSocket = { NetworkWebSocket(loop: loops.randomElement() ?? .shared) }
/// ```
public final class NetworkLoop: Sendable {
    typealias Command = @Sendable (EventLoop) -> Void

    /// The loop of all sockets and HTTP sessions that aren't given another.
    public static let shared = NetworkLoop()

    private struct State {
        var commands: [Command] = []
        /// The number of commands that need the thread to run: the others are about connections, of which there are none without it.
        var needs = 0
        var isRunning = false
        var wakeUp: WakeUp?
        var lastKey: UInt64 = 0
        /// Those who wait for the thread to end, in the order in which they asked.
        var shutdowns: [CheckedContinuation<Void, Never>] = []
        /// The number of those for whom all is done that was asked for before: others may ask for something in every turn.
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

    /// Ends all connections and requests at once, each with a report, and the thread; returns when it has ended.
    ///
    /// Whatever was asked for before is done before. A socket that is opened afterwards, or a request, starts the loop again. Don't
    /// wait for it on the loop's own thread, where delegates are called.
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

    /// True if there is a thread.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// A key that no other connection has.
    func makeKey() -> ConnectionKey {
        state.withLock { state in
            state.lastKey += 1
            return ConnectionKey(number: state.lastKey)
        }
    }

    /// Has a command run on the loop's thread, after all that were posted before; starts the thread.
    ///
    /// If there can't be one, the command is told so here and now: nothing that it may want must be locked.
    func start(_ command: @escaping Command) {
        if enqueue(command) { launch() }
    }

    /// Does the first part of ``start(_:)``, which may be done under a lock; returns whether there is to be the second, ``launch()``.
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

    /// Has a command run on the loop's thread, after all that were posted before; dropped if the thread doesn't run.
    func post(_ command: @escaping Command) {
        state.withLock { state in
            if state.isRunning { append(command, to: &state) }
        }
    }

    private func append(_ command: @escaping Command, to state: inout State) {
        state.commands.append(command)
        if state.commands.count == 1 { wake(state) }
    }

    /// Under the lock, so that what is woken is there.
    private func wake(_ state: State) {
        state.wakeUp?()
    }

    // MARK: The thread

    private func run() {
        while serve({ EventLoop(owner: self) }) {}
    }

    /// Serves until somebody wants it to stop; whether there is more to do.
    private func serve(_ makeLoop: () -> EventLoop) -> Bool {
        let waiting = serveUntilEnd(makeLoop)
        // Decided first, and the event loop is gone: who waited for the end must find it.
        let goesOn = isNeeded()
        waiting.forEach { $0.resume() }
        return goesOn
    }

    /// Serves until somebody wants it to stop, and gives back who that was; if it can't, until everybody was told so.
    private func serveUntilEnd(_ makeLoop: () -> EventLoop) -> [CheckedContinuation<Void, Never>] {
        let loop = makeLoop()
        state.withLock { $0.wakeUp = loop.wakeUp }
        while true {
            // Commands first: what was posted before the wake-up was published woke nobody.
            runCommands(on: loop)
            let hasMore = loop.settle()
            if let waiting = waitingForEnd(of: loop) {
                loop.shutDown()
                return waiting
            }
            loop.wait(hasMore ? .notAtAll : .untilNext)
        }
    }

    /// Those who wanted it to stop, when it is to: not before the commands that were posted before that. One that can't serve stops as soon as
    /// those were told so who were there: who asks later asks for another try.
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

    /// Returns whether somebody opened something, or wants it to stop, after it had stopped.
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

/// Names one connection, and with it one `open` of a socket.
struct ConnectionKey: Hashable, Sendable {
    let number: UInt64
}
#endif
