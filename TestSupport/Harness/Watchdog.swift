import Foundation
import PusherChannels

/// A timer that ends a futile wait after a number of beats. A beat is a second and then a turn of the task pool, so it measures
/// time in which the waiting code could have continued: beats take longer when a thousand tests wait for that pool, and count
/// less when the machine has more to do than it has cores.
package final class Watchdog: Sendable {
    private struct State {
        var left: Double
        var timer: (any ScheduledAction)?
        var isOver = false
    }

    private let beat: Duration
    private let bark: @Sendable () -> Void
    private let state: Locked<State>

    /// - Parameters:
    ///   - patience: The minimum time to wait.
    ///   - bark: A closure that is called after that, on no thread in particular, unless the watchdog was called off.
    package init(patience: Duration, bark: @escaping @Sendable () -> Void = {}) {
        beat = min(.seconds(1), max(.zero, patience))
        state = Locked(State(left: beat == .zero ? 1 : (patience / beat).rounded(.up)))
        self.bark = bark
        wait()
    }

    /// Indicates whether it has barked, or was called off.
    package var isOver: Bool { state.withLock(\.isOver) }

    /// Stops the watchdog, because nobody waits anymore.
    package func callOff() {
        state.withLock { state in
            state.isOver = true
            return state.timer.take()
        }?.cancel()
    }

    private func wait() {
        let clock = LiveScheduler()
        let timer = clock.schedule(at: clock.now + beat, label: "watchdog of a test") { Task { self.count() } }
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    private func count() {
        let hasBarked: Bool? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.left -= 1 / Self.load
            state.isOver = state.left <= 0
            return state.isOver
        }
        switch hasBarked {
        case true?: bark()
        case false?: wait()
        case nil: break
        }
    }

    /// The number of runnable threads per core. It is limited to four, because a hung test has to end on a busy machine, too.
    private static var load: Double {
        var average = 0.0
        guard getloadavg(&average, 1) == 1 else { return 1 }
        return min(4, max(1, average / Double(ProcessInfo.processInfo.activeProcessorCount)))
    }
}

/// The time that tests wait for something that must happen. It is long, because no passing test waits that long.
package enum Patience {
    /// The time in seconds, for ``Watchdog`` and for system calls that only take seconds.
    package static let seconds = 180
}
