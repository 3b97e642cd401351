#if canImport(Darwin)
import Foundation
#endif

/// The threads that run actions at their times: one watches the clock, and makes another do so while it runs what is due. So there
/// are as many as there are actions that take long, which may wait for the lock of their client, and one that is spare.
///
/// Nothing of it takes a descriptor, and when there can't be another thread, actions wait for each other.
final class TimerThreads: Sendable {
    typealias Action = @Sendable () -> Void
    typealias Actions = Agenda<Action>

    static let shared = TimerThreads()

    private struct State {
        var actions = Actions()
        /// Whether a thread watches the clock, or is about to.
        var isWatched = false
        /// Whether a thread has nothing to do.
        var hasSpare = false
        /// How many there are beside the one that watches and the spare one.
        var running = 0
        /// How many spare threads are to watch that haven't noticed yet.
        var calls = 0
        /// The next deadline is another one.
        let changed = LockCondition()
        /// There is a call.
        let called = LockCondition()
    }

    /// How many actions may run at a time.
    static let limit = 64

    private let state = Locked(State())
    private let startThread: SystemThread.Starter

    init(startThread: @escaping SystemThread.Starter = SystemThread.start) {
        self.startThread = startThread
    }

    // MARK: Commands

    /// Makes the thread that watches, if there is one to be had.
    func prepare() {
        guard beginsToWatch() else { return }
        if !startWatching() { state.withLock { $0.isWatched = false } }
    }

    /// Has an action run; the caller waits for the thread that watches, if there is none yet.
    func add(_ action: @escaping Action, at deadline: Instant) -> Actions.Number {
        let number = state.withLock { state in
            let number = state.actions.add(action, at: deadline)
            if state.actions.nextDeadline() == deadline { state.changed.signal() }
            return number
        }
        if beginsToWatch() {
            // Nobody would ever run it otherwise: libdispatch does the same, and looks less often.
            while !startWatching() { SystemThread.pause() }
        }
        return number
    }

    func remove(_ number: Actions.Number) {
        state.letGo { $0.actions.remove(number) }
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

    // MARK: The threads

    private func watch() {
        while true {
            let action = nextAction()
            let isReplaced = makeOtherWatch()
            perform(action)
            if isReplaced, !isNeededAgain() { return }
        }
    }

    /// The next one, once it is due.
    private func nextAction() -> Action {
        state.wait { state in
            let now = LiveScheduler.now
            if let action = state.actions.takeDue(at: now) { return .done(action) }
            // A day at a time, which every clock can add.
            return .waits(state.changed, atMost: state.actions.nextDeadline().map { min($0 - now, .seconds(86_400)) })
        }
    }

    /// Whether another thread watches from now on: the spare one, or a new one if there can be one.
    private func makeOtherWatch() -> Bool {
        let (isAllowed, hadSpare) = state.withLock { state in
            guard state.running < Self.limit else { return (false, false) }
            state.running += 1
            guard state.hasSpare else { return (true, false) }
            state.hasSpare = false
            state.calls += 1
            state.called.signal()
            return (true, true)
        }
        guard isAllowed else { return false }
        if hadSpare || startWatching() { return true }
        state.withLock { $0.running -= 1 }
        return false
    }

    /// Whether to watch again, after having been spare; not if there is a spare one already.
    private func isNeededAgain() -> Bool {
        let isSpare = state.withLock { state in
            state.running -= 1
            defer { state.hasSpare = true }
            return !state.hasSpare
        }
        if isSpare { awaitCall() }
        return isSpare
    }

    private func awaitCall() {
        state.wait { state -> Locked<State>.Outcome<Void> in
            guard state.calls > 0 else { return .waits(state.called, atMost: nil) }
            state.calls -= 1
            return .done(())
        }
    }

    private func perform(_ action: Action) {
        #if canImport(Darwin)
        autoreleasepool(invoking: action)
        #else
        action()
        #endif
    }
}
