#if canImport(CLibwebsockets)
import CLibwebsockets

/// The timers of a loop's connections: as many as are opening or closing, none for those that are open; and one for each
/// request. libwebsockets gets to see one, the next; its own list takes longer the more there are.
final class LoopTimers {
    private let clock = LiveScheduler()
    private var deadlines = DeadlineHeap<UInt64>()
    private var actions: [UInt64: () -> Void] = [:]
    private var lastNumber: UInt64 = 0
    /// libwebsockets keeps its address.
    private let alarm = UnsafeMutablePointer<clws_alarm>.allocate(capacity: 1)

    init() {
        alarm.initialize(to: clws_alarm())
    }

    deinit {
        alarm.deallocate()
    }

    func makeTimer() -> LoopTimer { LoopTimer(timers: self) }

    fileprivate func set(after delay: Duration, _ action: @escaping () -> Void) -> UInt64 {
        lastNumber += 1
        actions[lastNumber] = action
        // Requests set a timer each and cancel nearly all: what is left of those is swept out once it is most of the heap.
        if deadlines.count > 64, deadlines.count > 2 * actions.count { deadlines.filter { actions[$0] != nil } }
        deadlines.insert(lastNumber, at: clock.now + delay)
        return lastNumber
    }

    // An action may have the last reference to something with a timer of its own, which is cancelled then, in the middle: what is
    // forgotten is let go of once the list of actions is as it should be.

    fileprivate func cancel(_ number: UInt64) {
        let action = actions.removeValue(forKey: number)
        withExtendedLifetime(action) {}
    }

    /// Forgets all.
    func removeAll() {
        let forgotten = actions
        actions = [:]
        withExtendedLifetime(forgotten) {}
    }

    /// Runs what is due.
    func runDue() {
        guard deadlines.first != nil else { return }
        let now = clock.now
        while let (deadline, number) = deadlines.first, deadline <= now {
            deadlines.removeFirst()
            actions.removeValue(forKey: number)?()
        }
    }

    /// Has libwebsockets return to the loop in time for the next timer.
    func arm(in context: OpaquePointer) {
        // What was cancelled wakes nobody.
        while let (_, number) = deadlines.first, actions[number] == nil { deadlines.removeFirst() }
        guard let next = deadlines.first?.deadline else { return clws_stop_alarm(alarm) }
        let wait = max(.zero, next - clock.now).components
        // A microsecond more, lest it rings too early by what was rounded off.
        let microseconds = min(wait.seconds, 86_400) * 1_000_000 + wait.attoseconds / 1_000_000_000_000 + 1
        clws_set_alarm(alarm, context, microseconds)
    }
}

/// The one deadline that a connection has at a time.
final class LoopTimer {
    private let timers: LoopTimers
    private var number: UInt64?

    fileprivate init(timers: LoopTimers) {
        self.timers = timers
    }

    deinit {
        cancel()
    }

    /// Has `action` run once, some time from now, instead of what was set before.
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
