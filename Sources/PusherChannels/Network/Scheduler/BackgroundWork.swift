#if os(Linux)

/// Work that takes so long that a loop, which serves others too, doesn't do it.
enum BackgroundWork {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isWorking = false
    }

    private static let state = Locked(State())

    /// Has something done by another thread, or by this one if there can't be another. One after the other, as each may take much
    /// memory.
    @Sendable static func perform(_ work: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(work)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        guard isFirst else { return }
        do throws(SystemError) {
            try SystemThread.start("pusher-large") { performAll() }
        } catch {
            performAll()
        }
    }

    private static func performAll() {
        while let work = next() { work() }
    }

    private static func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            state.isWorking = !state.waiting.isEmpty
            return state.isWorking ? state.waiting.removeFirst() : nil
        }
    }
}
#endif
