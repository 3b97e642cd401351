#if os(Linux)

/// The long-running work of one loop, done off its thread because the loop serves others too. If a delegate blocks, no other
/// loop's work waits for it.
final class BackgroundWork: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isWorking = false
    }

    private let state = Locked(State())

    /// Performs work on another thread, or on this one if there can't be another. One after the other, because each may take much
    /// memory.
    @Sendable func perform(_ work: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(work)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        guard isFirst else { return }
        do throws(SystemError) {
            try SystemThread.start("pusher-large") { self.performAll() }
        } catch {
            performAll()
        }
    }

    private func performAll() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            state.isWorking = !state.waiting.isEmpty
            return state.isWorking ? state.waiting.removeFirst() : nil
        }
    }
}
#endif
