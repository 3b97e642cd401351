#if canImport(CLibwebsockets)
import CLibwebsockets

/// The timers of a loop's connections: as many as are opening or closing, none for those that are open. libwebsockets gets to
/// see one, the next; its own list takes longer the more there are.
final class LoopTimers {
    /// Names a timer.
    struct Timer: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private let clock = LiveScheduler()
    private var deadlines = DeadlineHeap<Timer>()
    private var actions: [Timer: () -> Void] = [:]
    private var lastNumber: UInt64 = 0
    /// libwebsockets keeps its address.
    private let wake = UnsafeMutablePointer<lws_sorted_usec_list_t>.allocate(capacity: 1)

    init() {
        wake.initialize(to: lws_sorted_usec_list_t())
    }

    deinit {
        wake.deallocate()
    }

    /// Has `action` run once, some time from now.
    func set(after delay: Duration, _ action: @escaping () -> Void) -> Timer {
        lastNumber += 1
        let timer = Timer(number: lastNumber)
        actions[timer] = action
        deadlines.insert(timer, at: clock.now + delay)
        return timer
    }

    func cancel(_ timer: Timer) {
        actions[timer] = nil
    }

    /// Runs what is due.
    func runDue() {
        guard deadlines.first != nil else { return }
        let now = clock.now
        while let (deadline, timer) = deadlines.first, deadline <= now {
            deadlines.removeFirst()
            actions.removeValue(forKey: timer)?()
        }
    }

    /// Has libwebsockets return to the loop in time for the next timer.
    func arm(in context: OpaquePointer) {
        // What was cancelled wakes nobody.
        while let (_, timer) = deadlines.first, actions[timer] == nil { deadlines.removeFirst() }
        guard let next = deadlines.first?.deadline else { return lws_sul_cancel(wake) }
        let wait = max(.zero, next - clock.now).components
        // A microsecond more, lest it comes too early by what was rounded off.
        let microseconds = min(wait.seconds, 86_400) * 1_000_000 + wait.attoseconds / 1_000_000_000_000 + 1
        lws_sul_schedule(context, 0, wake, { _ in }, microseconds)
    }
}
#endif
