import Dispatch
import PusherChannels

/// Virtual time: a ``Scheduler`` whose clock moves only when the test says so.
///
/// Timers run on the thread that advances the clock, in the order of their deadlines and, if those are equal, in the order in
/// which they were made; for an action, ``now`` is its own deadline. No lock is held while an action runs, so it may schedule,
/// cancel, and advance. All members may be called from any thread; with one advancing thread, everything is deterministic. For
/// code that has to be called on its own queue, create the scheduler with that queue: its timers run there while the advancing
/// thread waits.
public final class TestScheduler: Scheduler {
    /// A timer that has not run yet.
    public struct PendingTimer: Equatable, Sendable, CustomStringConvertible {
        /// The purpose of the timer, as its maker named it.
        public let label: String
        /// The time at which it comes due.
        public let deadline: Instant

        /// Creates a description of a timer, for comparisons.
        public init(label: String, deadline: Instant) {
            self.label = label
            self.deadline = deadline
        }

        /// `reconnect of connection 1 at 12.5 seconds`
        public var description: String { "\(label) at \(deadline)" }
    }

    /// The origin of a timer, for reports.
    enum Origin: Equatable, Sendable {
        /// A place in a test, `Tests.swift:12`.
        case place(String)
        /// A client of a harness, by its number there.
        case client(Int)
    }

    private struct Timer {
        let label: String
        let deadline: Instant
        let origin: Origin?
        let action: @Sendable () -> Void
    }

    private struct State {
        var now: Instant
        var timers = Agenda<Timer>()
        /// The continuations to finish when a timer with a label is made.
        var waiters: [(label: String, told: AsyncStream<Void>.Continuation)] = []
        /// The number of timers that have run since the clock moved.
        var ranSinceMove = 0
        /// The first livelock: too many timers to wait for their end.
        var livelock: Livelock?
        /// What was done with the clock that it can't do, without repetitions.
        var mistakes: [String] = []
        /// A counter of the timers that were made, ran, or were cancelled.
        var changes = 0
        /// The call that moves the clock.
        var currentMove: Move?
        /// The life of the harness whose clock this is.
        var life: TestLife?
        /// The maximum real time of a call that moves the clock.
        var patience: Duration?

        mutating func popTimer(dueBy limit: Instant?, atMost most: Int) -> Timer? {
            guard let deadline = timers.nextDeadline(), deadline <= limit ?? deadline else { return nil }
            move(to: deadline)
            guard ranSinceMove < most else {
                livelock = livelock ?? Livelock(steps: ranSinceMove, now: now, pending: pending.map(\.timer))
                return nil
            }
            ranSinceMove += 1
            changes += 1
            return timers.takeDue(at: deadline)
        }

        mutating func move(to time: Instant) {
            if time > now { (now, ranSinceMove) = (time, 0) }
        }

        mutating func takeWaiters(for label: String) -> [AsyncStream<Void>.Continuation] {
            defer { waiters.removeAll { $0.label == label } }
            return waiters.filter { $0.label == label }.map(\.told)
        }

        var pending: [(timer: PendingTimer, origin: Origin?)] {
            timers.waiting.map { (PendingTimer(label: $0.label, deadline: $0.deadline), $0.origin) }
        }
    }

    /// A call that moves the clock, which tells the calls within it from those of other threads.
    private final class Move: Sendable {
        let place: String
        /// Indicates whether it moves time only to wait. Any number of calls may wait.
        let waits: Bool

        init(at place: String, waits: Bool) { (self.place, self.waits) = (place, waits) }
    }

    /// The calls under way of which the current task or thread is a part, of all schedulers.
    @TaskLocal private static var moves: [Move] = []

    private struct Cancellation: ScheduledAction {
        /// Weak, because an action that never runs may hold its own cancellation, and the two would keep each other alive.
        weak let state: Locked<State>?
        let number: Agenda<Timer>.Number

        func cancel() {
            state?.release { state in
                state.changes += 1
                return state.timers.remove(number)
            }
        }
    }

    private let state: Locked<State>
    private let queue: TimerQueue?

    /// Creates a scheduler.
    ///
    /// - Parameters:
    ///   - start: The initial time of the clock.
    ///   - queue: The queue on which timers run, one after the other; `nil` for the thread that advances the clock. If the clock
    ///     is advanced on that queue itself, they run directly.
    public init(startingAt start: Instant = .origin, on queue: DispatchQueue? = nil) {
        state = Locked(State(now: start))
        self.queue = queue.map(TimerQueue.init)
    }

    /// The virtual time.
    public var now: Instant {
        state.withLock { $0.now }
    }

    /// Schedules `action` to run when the clock reaches `deadline`; if that is in the past, it runs with the next advance.
    @_disfavoredOverload  // Calls in tests use the overload that records their place.
    public func schedule(
        at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        schedule(at: deadline, label: label, from: nil, action)
    }

    /// Schedules `action` to run when the clock reaches `deadline`, and records the place to report if the timer is left over.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the action runs; if it is in the past, it runs with the next advance.
    ///   - label: The purpose of the timer, for reports.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - action: A closure that runs once.
    public func schedule(
        at deadline: Instant, label: String, file: String = #fileID, line: Int = #line, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        let place = sourceLocation(file, line)
        use("timer \(label)", at: place)
        return schedule(at: deadline, label: label, from: .place(place), action)
    }

    /// Runs `action` repeatedly, the first time after one interval.
    ///
    /// If its interval passes several times within one advance, the action runs that often, each time at its own deadline.
    ///
    /// - Parameters:
    ///   - interval: The time from one run to the next. One that isn't greater than zero would never end: the action doesn't
    ///     run then, and there is one of the ``findings``.
    ///   - label: The purpose of the timer, for reports.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - action: A closure that runs until it is cancelled, which it may do itself.
    public func schedule(
        every interval: Duration, label: String, file: String = #fileID, line: Int = #line,
        _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        let place = sourceLocation(file, line)
        use("timer \(label)", at: place)
        let timer = RepeatingTimer(every: interval, label: label, origin: .place(place), scheduler: self, action)
        if interval > .zero {
            timer.start()
        } else {
            refuse("\(label), made at \(place), repeats every \(interval) and would never end: give it an interval")
        }
        return timer
    }

    func schedule(
        at deadline: Instant, label: String, from origin: Origin?, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        let timer = Timer(label: label, deadline: deadline, origin: origin, action: action)
        let (number, waiters) = state.withLock { state in
            state.changes += 1
            return (state.timers.add(timer, at: deadline), state.waiters.isEmpty ? [] : state.takeWaiters(for: label))
        }
        for waiter in waiters { waiter.finish() }
        return Cancellation(state: state, number: number)
    }

    /// The pending timers, the next one first.
    public var pendingTimers: [PendingTimer] {
        state.withLock { $0.pending.map(\.timer) }
    }

    /// The pending timers and their origins.
    var pendingTimersWithOrigins: [(timer: PendingTimer, origin: Origin?)] {
        state.withLock { $0.pending }
    }

    /// Waits until a timer with a label is pending or the task is cancelled, for timers that another thread makes.
    package func waitForTimer(labeled label: String) async {
        let (made, told) = AsyncStream<Void>.makeStream()
        state.withLock { state in
            if state.timers.waiting.contains(where: { $0.label == label }) {
                told.finish()
            } else {
                state.waiters.append((label, told))
            }
        }
        for await _ in made {}
    }

    /// The maximum number of timers that may run while the clock stands still, before a move to a limit continues: a timer that
    /// always makes another for the same time would block the test forever.
    static let mostTimersAtOnce = 100_000

    /// Keeps the first livelock for the test's end.
    func record(_ livelock: Livelock) {
        state.withLock { $0.livelock = $0.livelock ?? livelock }
    }

    // MARK: Findings

    /// The findings for a test's end: what was done with the clock that it can't do, and what never came to rest. A
    /// ``TestHarness`` asks for them.
    public var findings: [Finding] {
        let (livelock, mistakes) = state.withLock { ($0.livelock, $0.mistakes) }
        return ([livelock.map { "\($0)" }].compactMap(\.self) + mistakes).map { Finding(.error, $0) }
    }

    /// Keeps a mistake for the test's end.
    func refuse(_ mistake: String) {
        state.withLock { state in
            if state.mistakes.count < 100, !state.mistakes.contains(mistake) { state.mistakes.append(mistake) }
        }
    }

    /// A counter of the timers that were made, ran, or were cancelled, which tells whether something has happened since.
    var changes: Int { state.withLock(\.changes) }

    /// The life of the harness whose clock this is; `nil` for a scheduler of its own.
    var life: TestLife? {
        get { state.withLock(\.life) }
        set { state.withLock { $0.life = newValue } }
    }

    /// Notes a use of the clock, which begins the life of its harness or comes after the end.
    private func use(_ what: @autoclosure () -> String, at place: String) { life?.use { "\(what()) at \(place)" } }

    /// The maximum real time of a call that moves the clock; `nil` for no limit.
    var patience: Duration? {
        get { state.withLock(\.patience) }
        set { state.withLock { $0.patience = newValue } }
    }

    /// Returns whether a call that began at an instant of real time takes too long.
    func isStuck(since start: ContinuousClock.Instant) -> Bool { patience.map { ContinuousClock.now - start > $0 } ?? false }

    // MARK: Moving

    /// Moves the clock forward, running the timers that come due on the way, including those that they schedule.
    ///
    /// A negative duration moves nothing and is one of the ``findings``, and so is a call while another thread advances the clock.
    /// If a hundred thousand timers run without the clock moving, that is considered a livelock, which a harness reports at the
    /// test's end; the clock moves on.
    public func advance(by duration: Duration, file: String = #fileID, line: Int = #line) {
        guard isForward(duration, sourceLocation(file, line)) else { return }
        advance(to: now + duration, file: file, line: line)
    }

    /// Moves the clock forward to a time, running the timers that come due on the way; for a time in the past, runs the overdue
    /// timers.
    public func advance(to time: Instant, file: String = #fileID, line: Int = #line) {
        let place = sourceLocation(file, line)
        use("advance", at: place)
        moving(at: place) { run(to: time, from: place) }
    }

    /// Returns whether time can move by a duration.
    func isForward(_ duration: Duration, _ place: @autoclosure () -> String) -> Bool {
        if duration < .zero { refuse("advance(by: \(duration)) at \(place()) moves nothing: time can't go back") }
        return duration >= .zero
    }

    /// Runs the timers up to a time as part of a call that moves the clock.
    func run(to time: Instant, from place: String) {
        let (target, start) = (max(time, now), ContinuousClock.now)
        while runNextTimer(dueBy: target, atMost: Self.mostTimersAtOnce) {
            guard !isStuck(since: start) else { return giveUp(target, place) }
        }
        state.withLock { $0.move(to: target) }
    }

    /// Reports an advance that takes too much real time.
    func giveUp(_ target: Instant, _ place: String) {
        refuse(
            """
            the advance to \(target) at \(place) was given up at \(now), after more than \(patience ?? .zero) of real time: something \
            always makes another timer, or it is a long way; pending: \(pendingTimers.names). `stuckAfter:` sets the limit
            """)
    }

    /// Makes a call that moves the clock. One at a time may: another that isn't part of it is a mistake.
    func moving(at place: String, waits: Bool = false, _ body: () throws -> Void) rethrows {
        let move = begin(Move(at: place, waits: waits))
        defer { end(move) }
        try Self.$moves.withValue(Self.moves + [move]) { try body() }
    }

    /// Makes an asynchronous call that moves the clock, which may go on on other threads.
    func moving<Value: Sendable>(
        at place: String, waits: Bool = false, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let move = begin(Move(at: place, waits: waits))
        defer { end(move) }
        return try await Self.$moves.withValue(Self.moves + [move]) { try await body() }
    }

    private func begin(_ move: Move) -> Move {
        let other = state.withLock { state -> Move? in
            defer { state.currentMove = state.currentMove ?? move }
            return state.currentMove
        }
        if let other, !(other.waits && move.waits), !Self.moves.contains(where: { $0 === other }) {
            refuse(
                """
                two threads advanced the clock at once, at \(other.place) and at \(move.place): what they run is in no order; advance on \
                one
                """)
        }
        return move
    }

    private func end(_ move: Move) { state.withLock { if $0.currentMove === move { $0.currentMove = nil } } }

    /// Moves the clock to a time before which no timer is due.
    func move(to time: Instant) { state.withLock { $0.move(to: time) } }

    /// Runs the next timer, moving the clock to its deadline.
    ///
    /// - Parameter limit: The latest deadline that counts; `nil` for any.
    /// - Returns: `false` if no such timer is pending; the clock doesn't move then.
    @discardableResult
    public func runNextTimer(dueBy limit: Instant? = nil) -> Bool { runNextTimer(dueBy: limit, atMost: .max) }

    /// Runs the next timer unless `most` timers have already run while the clock stood still.
    func runNextTimer(dueBy limit: Instant?, atMost most: Int) -> Bool {
        guard let timer = state.withLock({ $0.popTimer(dueBy: limit, atMost: most) }) else { return false }
        if let queue { queue.run(timer.action) } else { timer.action() }
        return true
    }

    /// Runs all timers, jumping from deadline to deadline, until none is pending.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of timers that may run: one that always schedules another never comes to rest.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    /// - Returns: The number of timers that ran.
    /// - Throws: ``Livelock`` if timers are still pending after `limit`.
    @discardableResult
    public func runUntilIdle(limit: Int = 10_000, file: String = #fileID, line: Int = #line) throws(Livelock) -> Int {
        let (start, place) = (ContinuousClock.now, sourceLocation(file, line))
        var steps = 0
        use("runUntilIdle", at: place)
        moving(at: place) {
            while steps < limit, !isStuck(since: start), runNextTimer() { steps += 1 }
        }
        let pending = pendingTimers
        guard pending.isEmpty else { throw Livelock(steps: steps, now: now, pending: pending) }
        return steps
    }
}

extension [TestScheduler.PendingTimer] {
    /// The first few timers, for reports.
    var names: String {
        guard !isEmpty else { return "none" }
        let names = prefix(10).map(\.description).joined(separator: ", ")
        return count > 10 ? "\(names) and \(count - 10) more" : names
    }
}
