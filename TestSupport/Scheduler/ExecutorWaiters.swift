import PusherChannels

/// The queue of waits on a ``TestExecutor``.
struct ExecutorWaiters: Sendable {
    enum Event: Sendable {
        /// All that is ready has run, and so have the timers up to this time.
        case rest(at: Instant)
        /// The executor is at rest and something has happened since; given up when nothing more happens by the limit.
        case change(since: Int, limit: Instant)
    }

    /// Continues whoever waited; `false` gives the event up.
    typealias Resume = @Sendable (Bool) -> Void

    private var sequence = 0
    private var rests: [(time: Instant, sequence: Int, resume: Resume)] = []
    private var changes: [(since: Int, limit: Instant, resume: Resume)] = []

    /// Indicates whether a body runs, whose caller makes the steps.
    var isRunning = false
    /// The number of those who wait for something outside the executor.
    var outside = 0
    /// Counts what happened, so that a condition is looked at again when it may have changed, and only then.
    private(set) var progress = 0
    /// Indicates whether a condition is being looked at: its own jobs aren't progress, or two conditions would wake each other for ever.
    private var look = Look.none

    private enum Look {
        case none, begun
        /// The job that looked still has to put itself to rest, in the job that runs.
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

    /// Takes a condition that may have changed; called when the executor is at rest.
    mutating func takeChanged() -> Resume? {
        // Still at it, at rest: the look itself waits for something.
        if look == .begun { progress += 1 }
        look = .none
        guard let index = changes.firstIndex(where: { $0.since < progress }) else { return nil }
        look = .begun
        return changes.remove(at: index).resume
    }

    /// The time up to which someone moves the clock; `nil` when nobody does.
    var horizon: (time: Instant, isRest: Bool)? {
        if let time = rests.map(\.time).min() { return (time, true) }
        return outside > 0 ? nil : changes.map(\.limit).min().map { ($0, false) }
    }

    /// Takes the one whose time the executor has reached: the earliest, then the first to come.
    mutating func takeRested() -> Resume? {
        guard let index = rests.indices.min(by: { (rests[$0].time, rests[$0].sequence) < (rests[$1].time, rests[$1].sequence) })
        else { return nil }
        progress += 1
        return rests.remove(at: index).resume
    }

    /// Takes a condition that nothing can make true in time.
    mutating func takeLost() -> Resume? {
        guard let index = changes.indices.min(by: { changes[$0].limit < changes[$1].limit }) else { return nil }
        progress += 1
        return changes.remove(at: index).resume
    }
}
