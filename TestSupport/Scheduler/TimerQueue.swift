import Dispatch

/// The queue on which a ``TestScheduler`` runs its timers, while whoever advances the clock waits.
struct TimerQueue: Sendable {
    private let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()

    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: key, value: true)
    }

    /// Runs an action on the queue; at once where that is where the caller is, who would wait for itself.
    func run(_ action: @Sendable () -> Void) {
        if DispatchQueue.getSpecific(key: key) == true { action() } else { queue.sync(execute: action) }
    }
}
