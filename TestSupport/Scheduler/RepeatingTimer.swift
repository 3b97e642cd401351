import PusherChannels

/// A timer of a ``TestScheduler`` that schedules itself again each time.
final class RepeatingTimer: ScheduledAction {
    private enum State {
        case waiting((any ScheduledAction)?)
        case cancelled
    }

    private let interval: Duration
    private let label: String
    private let origin: TestScheduler.Origin
    /// Weak, because a pending timer must not keep its scheduler alive.
    private weak let scheduler: TestScheduler?
    private let action: @Sendable () -> Void
    private let state = Locked(State.waiting(nil))

    init(
        every interval: Duration, label: String, origin: TestScheduler.Origin, scheduler: TestScheduler,
        _ action: @escaping @Sendable () -> Void
    ) {
        self.interval = interval
        self.label = label
        self.origin = origin
        self.scheduler = scheduler
        self.action = action
    }

    /// Schedules the next run.
    func start() {
        guard let scheduler else { return }
        let timer = scheduler.schedule(at: scheduler.now + interval, label: label, from: origin) { [self] in
            // Schedule the next run first, because the action may cancel it or move the clock.
            start()
            action()
        }
        let isCancelled = state.withLock { state in
            guard case .waiting = state else { return true }
            state = .waiting(timer)
            return false
        }
        if isCancelled { timer.cancel() }
    }

    func cancel() {
        let timer: (any ScheduledAction)? = state.withLock { state in
            defer { state = .cancelled }
            guard case .waiting(let timer) = state else { return nil }
            return timer
        }
        timer?.cancel()
    }
}
