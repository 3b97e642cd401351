import Foundation
import PusherChannels

/// A timer that ends a futile wait after a number of beats. A beat is a second and then a turn of the task pool, so it measures
/// time in which the waiting code could have continued: beats take longer when a thousand tests wait for that pool, and count
/// less when the machine has more to do than it has cores.
package final class Watchdog: Sendable {
    private struct State {
        var left: Double
        /// The turns of the task pool that were asked for.
        var turns = 0
        var timer: (any ScheduledAction)?
        var isOver = false
    }

    private let beat: Duration
    /// The time after which a turn of the task pool, whose threads may all be blocked, isn't waited for; `nil` for no limit.
    private let turnLimit: Duration?
    private let bark: @Sendable () -> Void
    private let state: Locked<State>

    /// - Parameters:
    ///   - patience: The minimum time to wait.
    ///   - turnLimit: The maximum time to wait for a turn of the task pool, which then counts as time that has passed; `nil` for
    ///     no limit.
    ///   - bark: A closure that is called after that, on no thread in particular, unless the watchdog was called off.
    package init(patience: Duration, turnLimit: Duration? = nil, bark: @escaping @Sendable () -> Void = {}) {
        self.turnLimit = turnLimit
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
        set(after: beat) { [self] in
            let turn = state.withLock { state in
                state.turns += 1
                return state.turns
            }
            // Wait for the turn's end first: the turn may come at once.
            if let turnLimit { set(after: turnLimit) { [self] in end(turn: turn, beats: 1 + turnLimit / beat) } }
            Task { end(turn: turn, beats: 1) }
        }
    }

    private func set(after time: Duration, _ action: @escaping @Sendable () -> Void) {
        let clock = LiveScheduler()
        let timer = clock.schedule(at: clock.now + time, label: "watchdog of a test", action)
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    /// Counts a turn of the task pool, or the time in which it didn't come, once.
    private func end(turn: Int, beats: Double) {
        let (hasBarked, timer) = state.withLock { state -> (Bool?, (any ScheduledAction)?) in
            guard !state.isOver, turn == state.turns else { return (nil, nil) }
            state.turns += 1
            state.left -= beats / Self.load
            state.isOver = state.left <= 0
            return (state.isOver, state.timer.take())
        }
        timer?.cancel()
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
