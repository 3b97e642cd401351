import PusherChannels

/// The queue of waits on a ``TestExecutor``.
struct ExecutorWaiters: Sendable {
    enum Event: Sendable {
        /// Everything that is ready has run, and so have the timers up to this time.
        case rest(at: Instant)
        /// The executor is at rest and something has happened since a given point; given up if nothing more happens by the limit.
        case change(since: Int, limit: Instant)
    }

    /// A closure that resumes the waiter; `false` gives the event up.
    typealias Resume = @Sendable (Bool) -> Void

    private var sequence = 0
    private var rests: [(time: Instant, sequence: Int, resume: Resume)] = []
    private var changes: [(since: Int, limit: Instant, resume: Resume)] = []

    /// Indicates whether a body runs; if so, its caller makes the steps.
    var isRunning = false
    /// The number of waits for something outside the executor.
    var outside = 0
    /// A counter of what has happened, so a condition is evaluated again only when it may have changed.
    private(set) var progress = 0
    /// The state of the evaluation of a condition. Its own jobs aren't progress; otherwise, two conditions would wake each other
    /// forever.
    private var look = Look.none

    private enum Look {
        case none, begun
        /// The evaluation has ended, but the job that made it is still running and has yet to suspend.
        case ended
    }

    mutating func add(_ event: Event, _ resume: @escaping Resume) {
        sequence += 1
        switch event {
        case .rest(let time): rests.append((time, sequence, resume))
        case .change(let since, let limit): changes.append((since, limit, resume))
        }
    }

    mutating func jobRan() {
        switch look {
        case .none: progress += 1
        case .begun: break
        case .ended: look = .none
        }
    }

    mutating func timerRan() {
        look = .none
        progress += 1
    }

    mutating func endLook(isOver: Bool) {
        if look == .begun { look = isOver ? .none : .ended }
    }

    /// Takes the wait for a condition that may have changed; called when the executor is at rest.
    mutating func takeChanged() -> Resume? {
        // The executor is at rest during an evaluation, so the condition itself waits for something.
        if look == .begun { progress += 1 }
        look = .none
        guard let index = changes.firstIndex(where: { $0.since < progress }) else { return nil }
        look = .begun
        return changes.remove(at: index).resume
    }

    /// The time up to which a waiter moves the clock; `nil` if none does. A condition's limit may come before the time that another
    /// task waits for; at the same time, that task goes first, because it may make the condition true.
    var horizon: (time: Instant, isRest: Bool)? {
        let rest = rests.map(\.time).min().map { (time: $0, isRest: true) }
        let change = outside > 0 ? nil : changes.map(\.limit).min().map { (time: $0, isRest: false) }
        guard let rest, let change else { return rest ?? change }
        return change.time < rest.time ? change : rest
    }

    /// Takes the wait whose time the executor has reached: the earliest, then the first to come.
    mutating func takeRested() -> Resume? {
        guard let index = rests.indices.min(by: { (rests[$0].time, rests[$0].sequence) < (rests[$1].time, rests[$1].sequence) })
        else { return nil }
        progress += 1
        return rests.remove(at: index).resume
    }

    /// Takes the wait for a condition that nothing can make true in time.
    mutating func takeLost() -> Resume? {
        guard let index = changes.indices.min(by: { changes[$0].limit < changes[$1].limit }) else { return nil }
        progress += 1
        return changes.remove(at: index).resume
    }
}
