import Foundation
import PusherChannels

/// Ends what waits in vain, after so many beats. A beat is a second and then a turn of the pool of tasks, so that it counts time in which
/// whoever waits could have gone on: beats take longer where a thousand tests wait for that pool, and count less where the machine has
/// more to do than it has cores.
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
    ///   - patience: The least time that it waits.
    ///   - bark: Called after that, on no thread in particular, if it wasn't called off.
    package init(patience: Duration, bark: @escaping @Sendable () -> Void = {}) {
        beat = min(.seconds(1), max(.zero, patience))
        state = Locked(State(left: beat == .zero ? 1 : (patience / beat).rounded(.up)))
        self.bark = bark
        wait()
    }

    /// Indicates whether it has barked, or was called off.
    package var isOver: Bool { state.withLock(\.isOver) }

    /// Nobody waits any more.
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

    /// The number of threads that want to run for each core; no more than four, as a lost test has to end on a busy machine, too.
    private static var load: Double {
        var average = 0.0
        guard getloadavg(&average, 1) == 1 else { return 1 }
        return min(4, max(1, average / Double(ProcessInfo.processInfo.activeProcessorCount)))
    }
}

/// The time for which tests wait for what must come: long, as nothing that passes waits for it.
package enum Patience {
    /// For ``Watchdog``, and for calls of the system, which know nothing but seconds.
    package static let seconds = 180
}
