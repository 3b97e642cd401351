import Dispatch

/// Real time: a clock that runs on while the machine sleeps, and timers on a background queue, each by itself.
public struct LiveScheduler: Scheduler {
    private static let origin = ContinuousClock().now
    // Concurrent: an action that waits for its client's lock must not keep those of other clients.
    private static let queue = DispatchQueue(label: "pusher-channels.timers", attributes: .concurrent)

    /// Creates a scheduler; all share one clock and one queue.
    public init() {}

    /// The time now; the origin is when the first scheduler of the process was used.
    public var now: Instant {
        Instant(Self.origin.duration(to: ContinuousClock().now))
    }

    /// Runs `action` on the timers' queue once `deadline` has come.
    public func schedule(
        at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        // A century is as good as for ever, and its nanoseconds can be counted.
        let (seconds, attoseconds) = min(max(.zero, deadline - now), .seconds(3_155_760_000)).components
        let wait = Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        return DispatchedAction(action, after: .nanoseconds(wait), on: Self.queue)
    }
}

/// An action that is forgotten, with its timer and all that it holds, as soon as it has run or was cancelled.
///
/// Not `asyncAfter`, which keeps what was cancelled until its time: half a kilobyte for each deadline of each connection there was.
private struct DispatchedAction: ScheduledAction {
    private struct Pending {
        let timer: any DispatchSourceTimer
        let action: @Sendable () -> Void
    }

    private let pending: Locked<Pending?>

    init(_ action: @escaping @Sendable () -> Void, after wait: DispatchTimeInterval, on queue: DispatchQueue) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        pending = Locked(Pending(timer: timer, action: action))
        timer.schedule(deadline: .now() + wait)
        // A timer that nobody cancels keeps itself, and this, until it has run.
        timer.setEventHandler { [self] in take()?.action() }
        timer.activate()
    }

    func cancel() {
        _ = take()
    }

    private func take() -> Pending? {
        let taken = pending.withLock { pending in
            defer { pending = nil }
            return pending
        }
        taken?.timer.cancel()
        return taken
    }
}
