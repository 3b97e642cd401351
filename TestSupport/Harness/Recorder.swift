import PusherChannels

/// A record of events, in order, that can be inspected or waited for. All members may be called from any thread.
public final class Recorder<Entry: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let isWanted: @Sendable (Entry) -> Bool
        let passesOver: Bool
        let continuation: CheckedContinuation<Entry, any Error>
        /// The number of entries that the waiter was offered or can no longer get.
        var offered = 0
        var watchdog: Watchdog?
    }

    private struct State {
        var entries: [Entry] = []
        /// The number of earlier entries that are no longer kept, which is the place of the first entry that is.
        var dropped = 0
        /// The places of the entries that nobody got, in order.
        var unclaimed: [Int] = []
        /// The places of the entries that may not be offered to waiters yet.
        var untold: Set<Int> = []
        /// The waiters, in the order in which they came.
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
        /// A counter of changes to entries and waiters, which tells a search whether it is out of date.
        var version = 0

        /// The number of entries so far, which is the place of the next one.
        var end: Int { dropped + entries.count }

        /// The number of entries that may be offered. An entry that may not be offered yet holds back the ones after it, because
        /// entries are offered in order.
        var told: Int { untold.min() ?? end }

        subscript(place: Int) -> Entry { entries[place - dropped] }

        mutating func append(_ entry: Entry, keeping limit: Int) {
            unclaimed.append(end)
            entries.append(entry)
            version += 1
            // Drop many at a time to keep the cost of each constant.
            let excess = entries.count - limit
            guard excess > limit / 4 else { return }
            entries.removeFirst(excess)
            dropped += excess
            unclaimed.removeFirst(firstUnclaimed(from: dropped))
        }

        mutating func replace(_ place: Int, with entry: Entry) {
            if place >= dropped { entries[place - dropped] = entry }
        }

        /// Returns the index of the first unclaimed entry at or after a place.
        func firstUnclaimed(from place: Int) -> Int {
            var (low, high) = (0, unclaimed.count)
            while low < high {
                let middle = (low + high) / 2
                if unclaimed[middle] < place { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// Returns the latest entries: those that nobody got, and those that somebody got or skipped.
        func byFate(atMost limit: Int) -> (unclaimed: [Entry], taken: [Entry]) {
            let (places, kept) = (Set(unclaimed), max(dropped, end - limit)..<end)
            return (kept.filter(places.contains).map { self[$0] }, kept.filter { !places.contains($0) }.map { self[$0] })
        }

        /// The entries to offer to the waiters, in the order in which the waiters came.
        var offers: [Offer] {
            let told = told
            return waiters.sorted { $0.key < $1.key }.map { id, waiter in
                let places = unclaimed[firstUnclaimed(from: waiter.offered)...].prefix { $0 < told }
                return Offer(waiter: id, isWanted: waiter.isWanted, entries: places.map { ($0, self[$0]) })
            }
        }
    }

    /// The entries that came since a waiter was last asked. It is asked only once about each entry.
    private struct Offer {
        let waiter: Int
        let isWanted: @Sendable (Entry) -> Bool
        let entries: [(place: Int, entry: Entry)]

        var match: Match? {
            entries.first { isWanted($0.entry) }.map { Match(waiter: waiter, entry: $0.place) }
        }
    }

    /// A waiter and the entry it gets.
    private struct Match {
        let waiter: Int
        let entry: Int
    }

    private let state = Locked(State())
    /// The maximum number of entries to keep; the latest are kept.
    private let limit: Int
    /// The virtual time of the entries, if they have one.
    private weak let scheduler: TestScheduler?

    init(limit: Int = .max, scheduler: (any Scheduler)? = nil) {
        self.limit = limit
        self.scheduler = scheduler?.virtualTime
    }

    /// All entries so far; of requests, the latest 10,000.
    public var all: [Entry] { state.withLock { $0.entries.suffix(limit) } }

    func append(_ entry: Entry) {
        state.withLock { $0.append(entry, keeping: limit) }
        matchAll()
    }

    /// An entry that isn't offered to waiters yet, which also holds back later entries.
    struct Noted: Sendable {
        fileprivate let recorder: Recorder
        fileprivate let place: Int

        /// Replaces the entry before it is offered to anyone.
        func replace(with entry: Entry) {
            recorder.state.withLock { $0.replace(place, with: entry) }
        }

        /// Offers the entry to the waiters. Call this once everything that follows from the entry is in place, such as a timer,
        /// because a waiter may move the clock immediately.
        @Sendable func tell() {
            recorder.state.withLock { state in
                state.untold.remove(place)
                state.version += 1
            }
            recorder.matchAll()
        }
    }

    /// Records an entry without offering it to waiters yet.
    func note(_ entry: Entry) -> Noted {
        state.withLock { state in
            state.append(entry, keeping: limit)
            state.untold.insert(state.end - 1)
            return Noted(recorder: self, place: state.end - 1)
        }
    }

    /// Returns the first matching entry that nobody got, waiting for it if necessary.
    ///
    /// - Throws: ``NothingCame`` if no match arrives in time; `CancellationError` if the task is cancelled.
    func next(_ wait: RecorderWait, where isWanted: @escaping @Sendable (Entry) -> Bool) async throws -> Entry {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    state.waiters[id] = Waiter(isWanted: isWanted, passesOver: wait.passesOver, continuation: continuation)
                    state.version += 1
                }
                matchAll()
                if Task.isCancelled { return fail(id, CancellationError()) }
                watch(id, wait)
            }
        } onCancel: {
            fail(id, CancellationError())
        }
    }

    /// Skips all entries so far, so nobody gets them anymore.
    func passOver() {
        state.withLock { state in
            state.unclaimed = []
            state.version += 1
        }
    }

    // MARK: Matching

    /// Gives entries to the waiters that want them. The waiters' conditions are called without the lock, because they are user
    /// code.
    private func matchAll() {
        while true {
            let (version, count, offers) = state.withLock { ($0.version, $0.told, $0.offers) }
            if let match = firstMatch(of: offers) {
                claim(match)
            } else if refused(offers, of: count, version: version) {
                return
            }
        }
    }

    private func firstMatch(of offers: [Offer]) -> Match? {
        for offer in offers {
            if let match = offer.match { return match }
        }
        return nil
    }

    /// Notes that nobody wanted the offered entries, among the first `count`. Returns whether nothing has changed since.
    private func refused(_ offers: [Offer], of count: Int, version: Int) -> Bool {
        state.withLock { state in
            for offer in offers where (state.waiters[offer.waiter]?.offered ?? count) < count {
                state.waiters[offer.waiter]?.offered = count
            }
            return state.version == version
        }
    }

    private func claim(_ match: Match) {
        let claimed: (Waiter, Entry)? = state.withLock { state in
            let index = state.firstUnclaimed(from: match.entry)
            guard index < state.unclaimed.count, state.unclaimed[index] == match.entry,
                let waiter = state.waiters.removeValue(forKey: match.waiter)
            else { return nil }
            state.unclaimed.removeSubrange((waiter.passesOver ? 0 : index)...index)
            return (waiter, state[match.entry])
        }
        guard let (waiter, entry) = claimed else { return }
        waiter.watchdog?.callOff()
        waiter.continuation.resume(returning: entry)
    }

    private func watch(_ id: Int, _ wait: RecorderWait) {
        guard state.withLock({ $0.waiters[id] != nil }) else { return }
        let watchdog = Watchdog(patience: wait.patience) { [weak self, limit] in
            guard let self else { return }
            let (unclaimed, taken) = state.withLock { $0.byFate(atMost: limit) }
            fail(id, wait.nothing(but: unclaimed.map { "\($0)" }, after: taken.map { "\($0)" }, in: scheduler))
        }
        let isWaiting = state.withLock { state in
            state.waiters[id]?.watchdog = watchdog
            return state.waiters[id] != nil
        }
        if !isWaiting { watchdog.callOff() }
    }

    private func fail(_ id: Int, _ error: any Error) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.watchdog?.callOff()
        waiter?.continuation.resume(throwing: error)
    }
}
