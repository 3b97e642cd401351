import Dispatch

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
        /// True if a thread watches the clock, or is about to.
        var isWatched = false
        /// True if a thread has nothing to do.
        var hasSpare = false
        /// The number of threads beside the one that watches and the spare one.
        var running = 0
        /// Ends when the next deadline is another one.
        var change = Change()
    }

    /// The next thing for the watching thread to do.
    private enum Step {
        case wait(Change, DispatchTime)
        case run(Action)
    }

    /// The number of actions that may run at a time.
    static let limit = 64

    /// Something that happens once, and is waited for by the clock that nobody can put back: a semaphore's time-out is over when the wall
    /// clock says so, on Linux. A group's isn't.
    private struct Change: Sendable {
        private let group = DispatchGroup()

        init() {
            group.enter()
        }

        func wait(timeout: DispatchTime) {
            _ = group.wait(timeout: timeout)
        }

        /// To be called once: a group may not be let go of before.
        func happen() {
            group.leave()
        }
    }

    private let state = Locked(State())
    /// The spare thread is to watch.
    private let needed = DispatchSemaphore(value: 0)
    private let startThread: SystemThread.Starter

    init(startThread: @escaping SystemThread.Starter = SystemThread.start) {
        self.startThread = startThread
    }

    deinit {
        state.withLock { $0.change.happen() }
    }

    // MARK: Commands

    /// Makes the thread that watches, if there is one to be had.
    func prepare() {
        guard beginsToWatch(), !startWatching() else { return }
        let isAwaited = state.withLock { state in
            // Whoever added something meanwhile took this one for the thread that watches.
            state.isWatched = state.actions.nextDeadline() != nil
            return state.isWatched
        }
        if isAwaited { startWatchingWhateverItTakes() }
    }

    /// Has an action run; the caller waits for the thread that watches, if there is none yet.
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

    /// Nobody would ever run what was added otherwise: libdispatch does the same, and looks less often.
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

    /// Waits, or runs what is due, and lets go of it; returns whether another thread watches meanwhile.
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
            // A day at a time, whose nanoseconds can be counted.
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

    /// Returns whether to watch again, after having been spare; not if there is a spare one already.
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
