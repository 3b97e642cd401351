/// The SDK's clock and timers: the seam that makes time testable.
///
/// The clock of the live one goes on counting while the machine sleeps; its timers may not. A deadline that passed meanwhile is
/// noticed with the first thing that happens after waking, at the latest when as much time as was left has passed awake. An
/// application that knows of the waking says so with ``PusherConnection/networkChanged()``.
public protocol Scheduler: Sendable {
    /// The time now.
    var now: Instant { get }

    /// Runs `action` once, at `deadline` or soon after, on any thread; a deadline in the past means as soon as possible.
    ///
    /// `label` names the timer in test reports ("reconnect of connection 1").
    func schedule(at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void) -> any ScheduledAction
}

/// An action that waits for its time.
public protocol ScheduledAction: Sendable {
    /// Forgets the action; does nothing when it has run.
    func cancel()
}

/// Real time: a clock that runs on while the machine sleeps, and timers on threads in the background. An action that takes long
/// holds up no other.
public struct LiveScheduler: Scheduler {
    private static let origin = ContinuousClock().now

    /// Creates a scheduler; all share one clock and their threads.
    public init() {
        // While there is a thread to be had: the first deadline may come when there is none.
        TimerThreads.shared.prepare()
    }

    /// The clock alone.
    static var now: Instant { Instant(origin.duration(to: ContinuousClock().now)) }

    /// The time now; the origin is when the clock was first asked.
    public var now: Instant { Self.now }

    /// Runs `action` on a thread of the timers' once `deadline` has come. Where the system had no thread for them yet and has none to
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
