import PusherChannels

/// An error thrown when a ``TestExecutor``'s body waits and nothing left on the executor can end the wait.
public struct Deadlock: Error, Equatable, Sendable, CustomStringConvertible {
    /// The virtual time.
    public let now: Instant
    /// The timers that would come due if someone moved the clock, the next one first.
    public let pending: [TestScheduler.PendingTimer]
    /// The call that ran the body, `Tests.swift:12`.
    public internal(set) var place = ""
    /// What the test's harness found and what had happened; empty for an executor without a harness.
    public var story = ""

    /// The pending timers, and advice on what may be missing.
    public var description: String {
        let advice =
            pending.isEmpty
            ? "nothing is scheduled"
            : "the clock stands still; advance it, or let it run with `time: .automatic`. Pending timers: \(pending.names)"
        let text = """
            deadlock at \(now): the body that runs at \(place) waits, nothing on the executor is ready, and \(advice). If it waits for \
            an event, nobody has published it. If it waits for something outside the executor, say so with `executor.outside(_:)`: \
            for a `Task {}` or a detached task that the code under test starts by itself, for code of the main actor, GCD, a \
            `URLSession`, a socket. Where such code needs the clock as well, use `harness.eventually` without an executor
            """
        return story.isEmpty ? text : "\(text)\n\(story)"
    }
}

/// An error thrown when work never comes to rest: on a ``TestExecutor`` while its body waits, or in a ``TestScheduler`` that runs
/// until it is idle.
public struct Livelock: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number of jobs and timers that ran.
    public let steps: Int
    /// The virtual time.
    public let now: Instant
    /// The pending timers, the next one first.
    public let pending: [TestScheduler.PendingTimer]

    /// The number of jobs and timers that ran, and the pending timers.
    public var description: String {
        """
        livelock at \(now): no rest after \(steps) jobs and timers; something polls, or a timer always makes another. \
        Pending timers: \(pending.names)
        """
    }
}

/// An error thrown when the condition that ``TestExecutor/eventually(_:within:_:)`` or a harness waits for can't come true
/// anymore, or not in time.
public struct NeverHappened: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name of the condition, in the caller's words.
    public let what: String
    /// The maximum virtual time of the wait.
    public let limit: Duration
    /// The virtual time.
    public let now: Instant
    /// The pending timers, all beyond the limit; the next one first.
    public let pending: [TestScheduler.PendingTimer]
    /// The timeline of the harness that waited, with places; empty for an executor's.
    public var story = ""

    /// The condition that didn't come true, and why the wait was given up.
    public var description: String {
        let text =
            pending.isEmpty
            ? "\(what) never happened: at \(now) nothing is ready or scheduled"
            : "\(what) didn't happen within \(limit): it is \(now) now, and what is scheduled comes later: \(pending.names)"
        return story.isEmpty ? text : "\(text)\n\(story)"
    }
}

/// An error thrown when ``TestExecutor/run(time:limit:file:line:_:)`` is called while the executor is running. Combine the two
/// bodies, or use two executors.
public struct ExecutorIsRunning: Error, Equatable, Sendable {}
