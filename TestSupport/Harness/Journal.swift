import PusherChannels

/// What happened, in order, to be looked at or waited for. All members may be called from any thread.
public final class Journal<Entry: Sendable>: Sendable {
    private struct Waiter {
        let isWanted: @Sendable (Entry) -> Bool
        let continuation: CheckedContinuation<Entry, any Error>
        var watchdog: (any ScheduledAction)?
    }

    private struct State {
        var entries: [Entry] = []
        /// The entries that nobody waited for.
        var unclaimed: [Entry] = []
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0

        mutating func take(_ isWanted: (Entry) -> Bool) -> Entry? {
            unclaimed.firstIndex(where: isWanted).map { unclaimed.remove(at: $0) }
        }
    }

    private let state = Locked(State())

    init() {}

    /// Everything so far.
    public var all: [Entry] { state.withLock { $0.entries } }

    func append(_ entry: Entry) {
        let waiter = state.withLock { state -> Waiter? in
            state.entries.append(entry)
            // Of those who wait for it, the first gets it.
            guard let id = state.waiters.keys.sorted().first(where: { state.waiters[$0]?.isWanted(entry) == true }) else {
                state.unclaimed.append(entry)
                return nil
            }
            return state.waiters.removeValue(forKey: id)
        }
        waiter?.watchdog?.cancel()
        waiter?.continuation.resume(returning: entry)
    }

    /// The first entry that is wanted and that nobody got, now or when it comes.
    ///
    /// - Parameter patience: How long to wait, in real time; `nil` for as long as it takes.
    func next(
        _ description: String, within patience: Duration? = nil, where isWanted: @escaping @Sendable (Entry) -> Bool
    ) async throws -> Entry {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let entry = state.withLock { state -> Entry? in
                    if let entry = state.take(isWanted) { return entry }
                    state.waiters[id] = Waiter(isWanted: isWanted, continuation: continuation)
                    return nil
                }
                if let entry { return continuation.resume(returning: entry) }
                if Task.isCancelled { return fail(id, CancellationError()) }
                if let patience { watch(id, description, patience) }
            }
        } onCancel: {
            fail(id, CancellationError())
        }
    }

    private func watch(_ id: Int, _ description: String, _ patience: Duration) {
        let clock = LiveScheduler()
        let watchdog = clock.schedule(at: clock.now + patience, label: "watchdog of a test") { [weak self] in
            guard let self else { return }
            fail(id, NothingCame(wanted: description, patience: patience, instead: all.map { "\($0)" }))
        }
        let isWaiting = state.withLock { state in
            state.waiters[id]?.watchdog = watchdog
            return state.waiters[id] != nil
        }
        if !isWaiting { watchdog.cancel() }
    }

    private func fail(_ id: Int, _ error: any Error) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.watchdog?.cancel()
        waiter?.continuation.resume(throwing: error)
    }
}

/// What a test waited for did not come in time.
public struct NothingCame: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was waited for.
    public let wanted: String
    /// How long.
    public let patience: Duration
    /// What had come by then.
    public let instead: [String]

    /// Names what was waited for, and what came.
    public var description: String {
        "no \(wanted) within \(patience); \(instead.isEmpty ? "nothing came" : "came: \(instead.joined(separator: ", "))")"
    }
}
