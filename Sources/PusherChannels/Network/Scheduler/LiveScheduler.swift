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
