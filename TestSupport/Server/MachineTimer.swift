import PusherChannels

/// The timer for the next deadline of a server's machine. It is set again only for an earlier deadline.
struct MachineTimer {
    static let label = "deadline of a test server"
    private var timer: (deadline: Instant, action: any ScheduledAction)?

    mutating func set(for deadline: Instant?, on scheduler: any Scheduler, _ action: @escaping @Sendable () -> Void) {
        guard let deadline else { return cancel() }
        if let timer, timer.deadline <= deadline { return }
        cancel()
        timer = (deadline, scheduler.schedule(at: deadline, label: Self.label, action))
    }

    mutating func cancel() {
        timer?.action.cancel()
        timer = nil
    }
}
