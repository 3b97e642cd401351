import Dispatch

/// Real time: a clock that runs on while the machine sleeps, and timers on one background queue.
public struct LiveScheduler: Scheduler {
    private static let origin = ContinuousClock().now
    private static let queue = DispatchQueue(label: "pusher-channels.timers")

    /// Creates a scheduler; all share one clock and one queue.
    public init() {}

    /// The time since the first scheduler of the process was used.
    public var now: MonotonicTime {
        Self.origin.duration(to: ContinuousClock().now)
    }

    /// Runs `action` on the timers' queue once `deadline` has come.
    public func schedule(
        at deadline: MonotonicTime, label: String, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        let scheduled = DispatchedAction(action: Locked(action))
        let (seconds, attoseconds) = max(.zero, deadline - now).components
        let nanoseconds = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let wait = nanoseconds.overflow ? Int.max : Int(nanoseconds.partialValue) + Int(attoseconds / 1_000_000_000)
        Self.queue.asyncAfter(deadline: .now() + .nanoseconds(wait)) { scheduled.run() }
        return scheduled
    }
}

/// An action that is forgotten, with all that it holds, as soon as it has run or was cancelled.
private struct DispatchedAction: ScheduledAction {
    let action: Locked<(@Sendable () -> Void)?>

    func run() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }

    func cancel() {
        action.withLock { $0 = nil }
    }
}
