import Dispatch

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
