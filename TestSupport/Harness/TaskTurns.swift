import Dispatch
import Foundation
import PusherChannels

/// Turns of everything that can run: the threads of Swift's tasks, then the main thread.
///
/// A task can't be observed. But when a job of ours runs on each thread of the pool at the same time, every job that was ready
/// before has run until it waited or ended, however busy the machine is. Turns are shared by all who ask for one meanwhile,
/// because two that share the threads would wait for each other.
enum TaskTurns {
    private struct State {
        var waiting: [UInt8: [CheckedContinuation<Void, Never>]] = [:]
        var running: Set<UInt8> = []
        /// Indicates whether a thread of the pool didn't come in time: a job holds it.
        var isHeld = false
        var main = MainTurns()
    }

    private static let state = Locked(State())

    /// Lets every task of this priority that is ready run, and then the main thread.
    static func turn() async {
        await pool(Task.currentPriority)
        await main()
    }

    private static func pool(_ priority: TaskPriority) async {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting[priority.rawValue, default: []].append(continuation)
                return state.running.insert(priority.rawValue).inserted
            }
            if isFirst { gather(priority) }
        }
    }

    /// Begins a turn for all who wait for one.
    private static func gather(_ priority: TaskPriority) {
        let (served, patience) = state.withLock { state -> ([CheckedContinuation<Void, Never>], Int) in
            let served = state.waiting.removeValue(forKey: priority.rawValue) ?? []
            if served.isEmpty { state.running.remove(priority.rawValue) }
            return (served, state.isHeld ? 5 : 100)
        }
        guard !served.isEmpty else { return }
        let gathering = Gathering(patience: .milliseconds(patience)) { isHeld in
            state.withLock { $0.isHeld = isHeld }
            for continuation in served { continuation.resume() }
            gather(priority)
        }
        for _ in 0..<Gathering.width { Task.detached(priority: priority) { gathering.arrive() } }
    }

    private static func main() async {
        guard let number = state.withLock({ $0.main.ask() }) else { return }
        let (turns, turn) = AsyncStream<Never>.makeStream()
        DispatchQueue.main.async {
            state.withLock { $0.main.came(number) }
            turn.finish()
        }
        let clock = LiveScheduler()
        let timer = clock.schedule(at: clock.now + .milliseconds(100), label: "turn of the main thread") {
            state.withLock { $0.main.giveUp(number) }
            turn.finish()
        }
        for await _ in turns {}
        timer.cancel()
    }
}

/// The turns of the main thread, by their numbers. A turn may come just when it is given up, before or after.
struct MainTurns {
    private var asked = 0
    private var latest = 0
    private var givenUp = 0

    /// Indicates whether the main thread has yet to run what it was given, because something blocks it.
    var isBlocked: Bool { latest < givenUp }

    /// Asks for a turn, and returns its number; `nil` if the main thread is blocked.
    mutating func ask() -> Int? {
        guard !isBlocked else { return nil }
        asked += 1
        return asked
    }

    mutating func came(_ turn: Int) { latest = max(latest, turn) }

    mutating func giveUp(_ turn: Int) { givenUp = max(givenUp, turn) }
}

/// A meeting of all threads of the pool.
private final class Gathering: Sendable {
    static var width: Int { ProcessInfo.processInfo.activeProcessorCount }

    private let state = Locked((arrived: 0, isHeld: false))
    private let door = DispatchSemaphore(value: 0)
    private let patience: DispatchTimeInterval
    private let end: @Sendable (_ isHeld: Bool) -> Void

    init(patience: DispatchTimeInterval, end: @escaping @Sendable (_ isHeld: Bool) -> Void) {
        self.patience = patience
        self.end = end
    }

    /// Waits for the others, but not long: a thread that computes, or is blocked, doesn't come.
    func arrive() {
        let arrived = state.withLock { state in
            state.arrived += 1
            return state.arrived
        }
        guard arrived == Self.width else {
            if door.wait(timeout: .now() + patience) == .timedOut { state.withLock { $0.isHeld = true } }
            return
        }
        for _ in 1..<arrived { door.signal() }
        end(state.withLock(\.isHeld))
    }
}
