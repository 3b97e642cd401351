/// The SDK's clock and timers: the seam that makes time testable.
///
/// The live one goes on counting while the machine sleeps, so that a deadline that passed during a suspend is noticed on waking.
public protocol Scheduler: Sendable {
    /// The time now.
    var now: MonotonicTime { get }

    /// Runs `action` once, at `deadline` or soon after, on any thread; a deadline in the past means as soon as possible.
    ///
    /// `label` names the timer in test reports ("reconnect of connection 1").
    func schedule(at deadline: MonotonicTime, label: String, _ action: @escaping @Sendable () -> Void) -> any ScheduledAction
}

/// An action that waits for its time.
public protocol ScheduledAction: Sendable {
    /// Forgets the action; does nothing when it has run.
    func cancel()
}
