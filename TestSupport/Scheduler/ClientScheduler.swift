import PusherChannels

/// A harness's time as one of its clients has it: what is left over is known to be that client's.
struct ClientScheduler: Scheduler {
    let scheduler: TestScheduler
    /// The harness's number of the client.
    let client: Int

    var now: Instant { scheduler.now }

    func schedule(
        at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        scheduler.schedule(at: deadline, label: label, from: .client(client), action)
    }
}

extension Scheduler {
    /// The virtual time behind it, if it is one.
    var virtualTime: TestScheduler? { self as? TestScheduler ?? (self as? ClientScheduler)?.scheduler }

    /// Schedules an action that is known in virtual time to come from a place.
    func schedule(
        at deadline: Instant, label: String, from place: String, _ action: @escaping @Sendable () -> Void
    ) -> any ScheduledAction {
        guard let virtualTime else { return schedule(at: deadline, label: label, action) }
        return virtualTime.schedule(at: deadline, label: label, from: .place(place), action)
    }
}
