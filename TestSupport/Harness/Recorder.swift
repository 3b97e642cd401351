import PusherChannels

/// A record of what happened, in order, to be looked at or waited for. All members may be called from any thread.
public final class Recorder<Entry: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let isWanted: @Sendable (Entry) -> Bool
        let passesOver: Bool
        let continuation: CheckedContinuation<Entry, any Error>
        /// The number of entries it was offered, or had no chance to get.
        var offered = 0
        var watchdog: Watchdog?
    }

    private struct State {
        var entries: [Entry] = []
        /// The number of entries that came before those and are no longer kept: the place of the first one that is.
        var dropped = 0
        /// The entries that nobody got, by their place, in order.
        var unclaimed: [Int] = []
        /// The places of the entries that nobody may be told of yet.
        var untold: Set<Int> = []
        /// Those who wait, by the order in which they came.
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
        /// Counts entries and waiters, so that a search knows whether it is out of date.
        var version = 0

        /// The number of entries so far: the place of the next one.
        var end: Int { dropped + entries.count }

        /// The number of entries that may be told of. Those after one that may not wait for it: they are told in their order.
        var told: Int { untold.min() ?? end }

        subscript(place: Int) -> Entry { entries[place - dropped] }

        mutating func append(_ entry: Entry, keeping limit: Int) {
            unclaimed.append(end)
            entries.append(entry)
            version += 1
            // Many at a time, so that each costs the same.
            let excess = entries.count - limit
            guard excess > limit / 4 else { return }
            entries.removeFirst(excess)
            dropped += excess
            unclaimed.removeFirst(firstUnclaimed(from: dropped))
        }

        mutating func replace(_ place: Int, with entry: Entry) {
            if place >= dropped { entries[place - dropped] = entry }
        }

        /// The first of the unclaimed that isn't before a place.
        func firstUnclaimed(from place: Int) -> Int {
            var (low, high) = (0, unclaimed.count)
            while low < high {
                let middle = (low + high) / 2
                if unclaimed[middle] < place { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// The latest entries: those that nobody got, and those that somebody got or passed over.
        func byFate(atMost limit: Int) -> (unclaimed: [Entry], taken: [Entry]) {
            let (places, kept) = (Set(unclaimed), max(dropped, end - limit)..<end)
            return (kept.filter(places.contains).map { self[$0] }, kept.filter { !places.contains($0) }.map { self[$0] })
        }

        /// The entries to offer to those who wait, in the order in which they came.
        var offers: [Offer] {
            let told = told
            return waiters.sorted { $0.key < $1.key }.map { id, waiter in
                let places = unclaimed[firstUnclaimed(from: waiter.offered)...].prefix { $0 < told }
                return Offer(waiter: id, isWanted: waiter.isWanted, entries: places.map { ($0, self[$0]) })
            }
        }
    }

    /// Entries that came since a waiter was last asked: it is asked once about each.
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
    /// The number of entries that are kept, the latest.
    private let limit: Int
    /// The virtual time that entries come in, if they do.
    private weak let scheduler: TestScheduler?

    init(limit: Int = .max, scheduler: (any Scheduler)? = nil) {
        self.limit = limit
        self.scheduler = scheduler?.virtualTime
    }

    /// Everything so far; of requests, the latest 10,000.
    public var all: [Entry] { state.withLock { $0.entries.suffix(limit) } }

    func append(_ entry: Entry) {
        state.withLock { $0.append(entry, keeping: limit) }
        matchAll()
    }

    /// An entry that those who wait are not told of yet, nor of later ones.
    struct Noted: Sendable {
        fileprivate let recorder: Recorder
        fileprivate let place: Int

        /// Says it better, before anybody is told.
        func replace(with entry: Entry) {
            recorder.state.withLock { $0.replace(place, with: entry) }
        }

        /// Tells them, to be called once what follows from the entry is in place, such as a timer: a listener may move the
        /// clock at once.
        @Sendable func tell() {
            recorder.state.withLock { state in
                state.untold.remove(place)
                state.version += 1
            }
            recorder.matchAll()
        }
    }

    /// Writes an entry down that nobody is told of yet.
    func note(_ entry: Entry) -> Noted {
        state.withLock { state in
            state.append(entry, keeping: limit)
            state.untold.insert(state.end - 1)
            return Noted(recorder: self, place: state.end - 1)
        }
    }

    /// The first entry that is wanted and that nobody got, now or when it comes.
    ///
    /// - Throws: ``NothingCame`` when there was none in time, `CancellationError` when the task is cancelled.
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

    /// Nobody gets what came so far any more.
    func passOver() {
        state.withLock { state in
            state.unclaimed = []
            state.version += 1
        }
    }

    // MARK: Matching

    /// Gives entries to those who wait for them. Their conditions are called without the lock: they are a user's code.
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

    /// Nobody wanted what was offered, of the first so many entries; whether that was all there is.
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
