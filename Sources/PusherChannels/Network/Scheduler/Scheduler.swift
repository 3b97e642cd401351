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
