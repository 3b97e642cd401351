/// The SDK's clock and timers: the seam that makes time testable.
///
/// The live scheduler's clock keeps running while the machine sleeps; its timers may not. A deadline that passed meanwhile is
/// noticed with the first event after waking, at the latest once the machine has been awake for the time that was left. An
/// application that notices the wake-up calls ``PusherConnection/networkChanged()``.
public protocol Scheduler: Sendable {
    /// The current time.
    var now: Instant { get }

    /// Runs `action` once, at `deadline` or soon after, on any thread; a deadline in the past means as soon as possible.
    ///
    /// `label` names the timer in test reports ("reconnect of connection 1").
    func schedule(at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void) -> any ScheduledAction
}

/// An action that waits for its time.
public protocol ScheduledAction: Sendable {
    /// Cancels the action; does nothing if it has run.
    func cancel()
}

/// Real time: a clock that keeps running while the machine sleeps, and timers on background threads. A long-running action holds
/// up no other.
public struct LiveScheduler: Scheduler {
    private static let origin = ContinuousClock().now

    /// Creates a scheduler. All schedulers share one clock and the timer threads.
    public init() {
        // Starts the thread while there is one to be had, as there may be none when the first deadline comes.
        TimerThreads.shared.prepare()
    }

    /// The current time, without starting the timers.
    static var now: Instant { Instant(origin.duration(to: ContinuousClock().now)) }

    /// The current time, counted from the first use of the clock.
    public var now: Instant { Self.now }

    /// Runs `action` on a timer thread once `deadline` has come. If the timers have no thread yet and the system has none to
    /// give, the caller waits until it has.
    public func schedule(
        at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        let timers = TimerThreads.shared
        return LiveAction(timers: timers, number: timers.add(action, at: deadline))
    }
}

private struct LiveAction: ScheduledAction {
    let timers: TimerThreads
    let number: TimerThreads.Actions.Number

    func cancel() {
        timers.remove(number)
    }
}
