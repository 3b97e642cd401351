import PusherChannels

/// What happened, in order, to be looked at or waited for. All members may be called from any thread.
public final class Journal<Entry: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let isWanted: @Sendable (Entry) -> Bool
        let passesOver: Bool
        let continuation: CheckedContinuation<Entry, any Error>
        var watchdog: (any ScheduledAction)?
    }

    private struct State {
        var entries: [Entry] = []
        /// The entries that nobody got, by their place.
        var unclaimed: [Int] = []
        /// Those who wait, by the order in which they came.
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
        /// Counts entries and waiters, so that a search knows whether it is out of date.
        var version = 0
    }

    /// A waiter and the entry it gets.
    private struct Match {
        let waiter: Int
        let entry: Int
    }

    private let state = Locked(State())

    init() {}

    /// Everything so far.
    public var all: [Entry] { state.withLock { $0.entries } }

    func append(_ entry: Entry) {
        state.withLock { state in
            state.unclaimed.append(state.entries.count)
            state.entries.append(entry)
            state.version += 1
        }
        matchAll()
    }

    /// The first entry that is wanted and that nobody got, now or when it comes.
    ///
    /// - Parameters:
    ///   - passesOver: Whether nobody gets the entries before it any more.
    ///   - patience: How long to wait, in real time.
    /// - Throws: ``NothingCame`` when there was none in time, `CancellationError` when the task is cancelled.
    func next(
        _ description: String, within patience: Duration, passingOver passesOver: Bool = false,
        where isWanted: @escaping @Sendable (Entry) -> Bool
    ) async throws -> Entry {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    state.waiters[id] = Waiter(isWanted: isWanted, passesOver: passesOver, continuation: continuation)
                    state.version += 1
                }
                matchAll()
                if Task.isCancelled { return fail(id, CancellationError()) }
                watch(id, description, patience)
            }
        } onCancel: {
            fail(id, CancellationError())
        }
    }

    // MARK: Matching

    /// Gives entries to those who wait for them. What they want is asked without the lock: it is a user's code.
    private func matchAll() {
        while true {
            let (version, waiters, entries) = state.withLock { state in
                (state.version, state.waiters.sorted { $0.key < $1.key }, state.unclaimed.map { ($0, state.entries[$0]) })
            }
            let match = waiters.lazy.compactMap { id, waiter in
                entries.first { waiter.isWanted($0.1) }.map { Match(waiter: id, entry: $0.0) }
            }.first
            guard let match else {
                if state.withLock({ $0.version == version }) { return }
                continue
            }
            claim(match)
        }
    }

    private func claim(_ match: Match) {
        let claimed: (Waiter, Entry)? = state.withLock { state in
            guard state.unclaimed.contains(match.entry), let waiter = state.waiters.removeValue(forKey: match.waiter) else {
                return nil
            }
            state.unclaimed.removeAll { waiter.passesOver ? $0 <= match.entry : $0 == match.entry }
            return (waiter, state.entries[match.entry])
        }
        guard let (waiter, entry) = claimed else { return }
        waiter.watchdog?.cancel()
        waiter.continuation.resume(returning: entry)
    }

    private func watch(_ id: Int, _ description: String, _ patience: Duration) {
        guard state.withLock({ $0.waiters[id] != nil }) else { return }
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
