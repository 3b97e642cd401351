#if canImport(CLibwebsockets)
import CLibwebsockets

/// The timers of a loop: one for each connection that is opening or closing, none for those that are open, and one for each
/// request. libwebsockets sees only the next one, because its own list takes longer the more there are.
final class LoopTimers {
    fileprivate typealias Actions = Agenda<() -> Void>

    private var actions = Actions()
    /// The alarm for the next timer; libwebsockets keeps its address.
    private let alarm = UnsafeMutablePointer<clws_alarm>.allocate(capacity: 1)

    private let now: () -> Instant

    init(now: @escaping () -> Instant) {
        self.now = now
        alarm.initialize(to: clws_alarm())
    }

    deinit {
        alarm.deallocate()
    }

    func makeTimer() -> LoopTimer { LoopTimer(timers: self) }

    fileprivate func set(after delay: Duration, _ action: @escaping () -> Void) -> Actions.Number {
        actions.add(action, at: now() + delay)
    }

    fileprivate func cancel(_ number: Actions.Number) {
        let action = actions.remove(number)
        withExtendedLifetime(action) {}
    }

    /// Runs the actions that are due.
    func runDue() {
        guard actions.nextDeadline() != nil else { return }
        let time = now()
        while let action = actions.takeDue(at: time) { action() }
    }

    /// Wakes libwebsockets up in time for the next timer, so that it returns to the loop.
    func arm(in context: OpaquePointer, wakingUp wakeUp: WakeUp) {
        guard let next = actions.nextDeadline() else { return clws_stop_alarm(alarm) }
        let wait = max(.zero, next - now()).components
        // One microsecond more, because the remainder that is cut off would make it ring too early.
        let microseconds = min(wait.seconds, 86_400) * 1_000_000 + wait.attoseconds / 1_000_000_000_000 + 1
        clws_set_alarm(alarm, context, wakeUp.descriptor, microseconds)
    }
}

/// A timer for the one deadline that a connection has at a time.
final class LoopTimer {
    private let timers: LoopTimers
    private var number: Agenda<() -> Void>.Number?

    fileprivate init(timers: LoopTimers) {
        self.timers = timers
    }

    deinit {
        cancel()
    }

    /// Runs `action` once after a delay, instead of the one that was set before.
    func set(after delay: Duration, _ action: @escaping () -> Void) {
        cancel()
        number = timers.set(after: delay) { [weak self] in
            self?.number = nil
            action()
        }
    }

    func cancel() {
        if let number { timers.cancel(number) }
        number = nil
    }
}
#endif
