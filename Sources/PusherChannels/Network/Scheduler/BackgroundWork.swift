#if os(Linux)

/// Work of one loop that takes so long that the loop, which serves others too, doesn't do it. Where a delegate stands still, nothing of
/// another loop's waits for that.
final class BackgroundWork: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isWorking = false
    }

    private let state = Locked(State())

    /// Has something done by another thread, or by this one if there can't be another. One after the other, as each may take much
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
