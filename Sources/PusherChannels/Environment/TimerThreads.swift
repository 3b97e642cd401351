import Dispatch

#if canImport(Darwin)
import Foundation
#endif

/// The threads that run actions at their times. One watches the clock, and lets another one do so while it runs an action. There
/// are as many threads as long-running actions, which may wait for their client's lock, and one spare thread.
///
/// None of this needs a descriptor. If there can't be another thread, actions wait for each other.
final class TimerThreads: Sendable {
    typealias Action = @Sendable () -> Void
    typealias Actions = Agenda<Action>

    static let shared = TimerThreads()

    private struct State {
        var actions = Actions()
        /// Indicates whether a thread watches the clock, or is about to.
        var isWatched = false
        /// Indicates whether a thread has nothing to do.
        var hasSpare = false
        /// The number of threads besides the watching one and the spare one.
        var running = 0
        /// Happens when the next deadline changes.
        var change = Change()
    }

    /// The watching thread's next step.
    private enum Step {
        case wait(Change, DispatchTime)
        case run(Action)
    }

    /// The number of actions that may run at a time.
    static let limit = 64

    /// A one-time event, waited for by a clock that nobody can set back. On Linux, a semaphore's time-out follows the wall clock;
    /// a group's doesn't.
    private struct Change: Sendable {
        private let group = DispatchGroup()

        init() {
            group.enter()
        }

        func wait(timeout: DispatchTime) {
            _ = group.wait(timeout: timeout)
        }

        /// Signals the event. Must be called once, because a group may not be released before.
        func happen() {
            group.leave()
        }
    }

    private let state = Locked(State())
    /// Tells the spare thread to watch.
    private let needed = DispatchSemaphore(value: 0)
    private let startThread: SystemThread.Starter

    init(startThread: @escaping SystemThread.Starter = SystemThread.start) {
        self.startThread = startThread
    }

    deinit {
        state.withLock { $0.change.happen() }
    }

    // MARK: Commands

    /// Starts the watching thread, if there can be one.
    func prepare() {
        guard beginsToWatch(), !startWatching() else { return }
        let isAwaited = state.withLock { state in
            // A caller that added something meanwhile relies on this thread to watch.
            state.isWatched = state.actions.nextDeadline() != nil
            return state.isWatched
        }
        if isAwaited { startWatchingWhateverItTakes() }
    }

    /// Schedules an action. The caller waits for the watching thread if there is none yet.
    func add(_ action: @escaping Action, at deadline: Instant) -> Actions.Number {
        let (number, change) = state.withLock { state in
            let number = state.actions.add(action, at: deadline)
            guard state.actions.nextDeadline() == deadline else { return (number, Change?.none) }
            defer { state.change = Change() }
            return (number, state.change)
        }
        change?.happen()
        if beginsToWatch() { startWatchingWhateverItTakes() }
        return number
    }

    func remove(_ number: Actions.Number) {
        state.release { $0.actions.remove(number) }
    }

    private func beginsToWatch() -> Bool {
        state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
    }

    private func startWatching() -> Bool {
        do throws(SystemError) {
            try startThread("pusher-timers") { self.watch() }
            return true
        } catch {
            return false
        }
    }

    /// Starts the watching thread, however long that takes: without one, actions would never run. libdispatch does the same, and
    /// looks less often.
    private func startWatchingWhateverItTakes() {
        while !startWatching() { pause() }
    }

    private func pause() {
        let never = Change()
        never.wait(timeout: .now() + .milliseconds(10))
        never.happen()
    }

    // MARK: The threads

    private func watch() {
        while true {
            let isReplaced = makeStep()
            if isReplaced, !isNeededAgain() { return }
        }
    }

    /// Waits, or runs and releases a due action. Returns whether another thread watches meanwhile.
    private func makeStep() -> Bool {
        switch next() {
        case .wait(let change, let time):
            change.wait(timeout: time)
            return false
        case .run(let action):
            let isReplaced = makeOtherWatch()
            perform(action)
            return isReplaced
        }
    }

    private func next() -> Step {
        state.withLock { state in
            let now = LiveScheduler.now
            if let action = state.actions.takeDue(at: now) { return .run(action) }
            guard let deadline = state.actions.nextDeadline() else { return .wait(state.change, .distantFuture) }
            // At most a day at a time, whose nanoseconds fit into an `Int`.
            let (seconds, attoseconds) = min(deadline - now, .seconds(86_400)).components
            return .wait(state.change, .now() + .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000 + 1)))
        }
    }

    /// Returns whether another thread watches from now on: the spare one, or a new one if there can be one.
    private func makeOtherWatch() -> Bool {
        let (isAllowed, hadSpare) = state.withLock { state in
            guard state.running < Self.limit else { return (false, false) }
            state.running += 1
            defer { state.hasSpare = false }
            return (true, state.hasSpare)
        }
        guard isAllowed else { return false }
        if hadSpare {
            needed.signal()
            return true
        }
        if startWatching() { return true }
        state.withLock { $0.running -= 1 }
        return false
    }

    /// Returns whether to watch again after having been spare; `false` if there is a spare thread already.
    private func isNeededAgain() -> Bool {
        let isSpare = state.withLock { state in
            state.running -= 1
            defer { state.hasSpare = true }
            return !state.hasSpare
        }
        if isSpare { needed.wait() }
        return isSpare
    }

    private func perform(_ action: Action) {
        #if canImport(Darwin)
        autoreleasepool(invoking: action)
        #else
        action()
        #endif
    }
}
