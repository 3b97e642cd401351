/// The one timer of a connection. It is set again only when it would ring too late: one that rings early costs a look at the
/// clock, while a heartbeat's deadline moves with every message.
struct DeadlineTimer {
    private let scheduler: any Scheduler
    private let label: String
    private var armed: (deadline: MonotonicTime, action: any ScheduledAction)?

    init(scheduler: any Scheduler, label: String) {
        self.scheduler = scheduler
        self.label = label
    }

    /// Whether `deadline` asks for a change.
    func needsChange(for deadline: MonotonicTime?) -> Bool {
        switch (armed?.deadline, deadline) {
        case (nil, nil): false
        case (let armed?, let deadline?): deadline < armed
        case (nil, _?), (_?, nil): true
        }
    }

    mutating func set(_ deadline: MonotonicTime?, ring: @escaping @Sendable () -> Void) {
        armed?.action.cancel()
        armed = deadline.map { ($0, scheduler.schedule(at: $0, label: label, ring)) }
    }

    mutating func hasRung() {
        armed = nil
    }
}
