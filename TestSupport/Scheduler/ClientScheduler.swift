import Dispatch
import PusherChannels

/// A harness's scheduler for one of its clients, which attributes leftover timers to that client.
struct ClientScheduler: Scheduler {
    let scheduler: TestScheduler
    /// The client's number in the harness.
    let client: Int

    var now: Instant { scheduler.now }

    func schedule(
        at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        scheduler.schedule(at: deadline, label: label, from: .client(client), action)
    }
}

extension Scheduler {
    /// The underlying scheduler of virtual time, if there is one.
    var virtualTime: TestScheduler? { self as? TestScheduler ?? (self as? ClientScheduler)?.scheduler }

    /// Schedules an action; in virtual time, its place is recorded.
    func schedule(
        at deadline: Instant, label: String, from place: String, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        guard let virtualTime else { return schedule(at: deadline, label: label, action) }
        return virtualTime.schedule(at: deadline, label: label, from: .place(place), action)
    }
}

/// The queue on which a ``TestScheduler`` runs its timers, while the thread that advances the clock waits.
struct TimerQueue: Sendable {
    private let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()

    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: key, value: true)
    }

    /// Runs an action on the queue; directly if the caller is already on it, because it would wait for itself.
    func run(_ action: @Sendable () -> Void) {
        if DispatchQueue.getSpecific(key: key) == true { action() } else { queue.sync(execute: action) }
    }
}
