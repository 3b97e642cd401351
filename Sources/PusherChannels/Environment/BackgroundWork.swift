/// Work that is done one piece after the other off the thread that asks for it, such as a loop's, which serves others too.
final class BackgroundWork: Sendable {
    private struct State {
        var waiting = Deque<@Sendable () -> Void>()
        var isWorking = false
    }

    private let state = Locked(State())
    private let name: String
    private let startThread: SystemThread.Starter

    /// Creates one whose thread, which ends when nothing waits, has a name.
    init(_ name: String, startThread: @escaping SystemThread.Starter = SystemThread.start) {
        self.name = name
        self.startThread = startThread
    }

    /// Performs work on another thread, or on this one if there can't be another.
    @Sendable func perform(_ work: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(work)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        guard isFirst else { return }
        do throws(SystemError) {
            try startThread(name) { self.performAll() }
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
            return state.waiting.popFirst()
        }
    }
}
