/// The stream of a pool: the batches of its clients' streams, in turn. A client's next batch is requested when its last one was
/// read, so the server waits only on connections whose reader is slow.
final class PoolReading: StreamReading {
    typealias Source = StreamSource<PoolUpdate>
    typealias Batch = StreamQueue<PoolUpdate>.Batch
    private typealias Reader = @Sendable (Portion<PoolUpdate>) -> Void

    private struct Entry {
        let source: Source
        /// The number of its batches that aren't read, including the one that is requested.
        var batches = 1
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The batches that have come, with their sources.
        var ready = Deque<Portion<PoolUpdate>>()
        var readers: [(number: Int, reader: Reader)] = []
        var readersMade = 0
        /// Indicates whether no more sources are taken.
        var isClosed = false
        /// Indicates whether nothing comes after `ready`.
        var isFinished = false

        /// Takes the next portion for a reader; nil if the reader has to wait.
        mutating func take() -> Portion<PoolUpdate>? {
            ready.popFirst() ?? (isFinished ? (Batch(), nil) : nil)
        }

        /// Returns the waiting readers that can go on, each with its portion.
        mutating func wakeUps() -> [(reader: Reader, portion: Portion<PoolUpdate>)] {
            var wakeUps: [(reader: Reader, portion: Portion<PoolUpdate>)] = []
            while !readers.isEmpty, let portion = take() { wakeUps.append((readers.removeFirst().reader, portion)) }
            return wakeUps
        }
    }

    private let state = Locked(State())

    /// Adds another client's stream.
    func add(_ source: Source) {
        let isTaken = state.withLock { state in
            let isTaken = !state.isFinished && !state.isClosed
            if isTaken { state.entries[ObjectIdentifier(source)] = Entry(source: source) }
            return isTaken
        }
        guard isTaken else { return }
        source.change { $0.isTakenAhead = true }
        ask(source)
    }

    private func ask(_ source: Source) {
        source.ask { [weak self, weak source] batch in
            if let self, let source { self.arrived(batch, of: source) }
        }
    }

    /// Handles a batch. An empty one ends its source; with a failure, it ends the whole stream, and the reader gets the failure.
    private func arrived(_ batch: Batch, of source: Source) {
        // Elements that came earlier from the others are read first.
        if batch.failure != nil { for other in sources where other !== source { takeAll(of: other) } }
        let removed = change { state -> [Source] in
            if !batch.elements.isEmpty || batch.failure != nil { state.ready.append((batch, source)) }
            guard batch.elements.isEmpty else { return [] }
            let removed = batch.failure == nil ? [source] : state.entries.values.map(\.source)
            for source in removed { state.entries[ObjectIdentifier(source)] = nil }
            state.isFinished = state.entries.isEmpty
            return removed
        }
        // Released outside the lock, because each removes its stream from its client.
        withExtendedLifetime(removed) {}
    }

    /// Changes the state, and wakes the readers that then have something to read.
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, wakeUps) = state.withLock { state in (body(&state), state.wakeUps()) }
        for (reader, portion) in wakeUps { reader(portion) }
        return result
    }

    /// Takes the waiting elements of a client, which are then read before anything that comes later from another client.
    func takeAll(of core: ClientCore) {
        for source in sources where source.owner === core { takeAll(of: source) }
    }

    private func takeAll(of source: Source) {
        // Counted before it is taken: otherwise, a reader that finishes the last batch meanwhile would request the next one.
        change { $0.entries[ObjectIdentifier(source)]?.batches += 1 }
        guard let batch = source.change({ $0.take() }), let batch, !batch.elements.isEmpty else { return isDone(with: source) }
        change { $0.ready.append((batch, source)) }
    }

    // MARK: StreamReading

    private var sources: [Source] { state.withLock { $0.entries.values.map(\.source) } }

    var dropped: Int { sources.reduce(0) { $0 + $1.dropped } }

    var waiting: Int {
        let taken = state.withLock { $0.ready.reduce(0) { $0 + $1.batch.elements.count } }
        return sources.reduce(taken) { $0 + $1.waiting }
    }

    let takesAhead = false

    func finish() {
        // Without a source, as long as the pool hasn't added the first one, nothing else would end it.
        change { state in
            state.isClosed = true
            state.isFinished = state.entries.isEmpty
        }
        for source in sources { source.finish() }
    }

    func noteIterators(_ difference: Int) {}

    func isDone(with source: Source) {
        let isAllRead = state.withLock { state in
            state.entries[ObjectIdentifier(source)]?.batches -= 1
            let isAllRead = state.entries[ObjectIdentifier(source)]?.batches == 0
            if isAllRead { state.entries[ObjectIdentifier(source)]?.batches = 1 }
            return isAllRead
        }
        if isAllRead { ask(source) }
    }

    /// Puts the rest in front of what is ready, which may be of the same source and came later.
    func takeBack(_ rest: Batch, of source: Source) {
        if rest.elements.isEmpty { return isDone(with: source) }
        change { $0.ready.prepend((rest, source)) }
    }

    func makeReaderNumber() -> Int {
        state.withLock { state in
            state.readersMade += 1
            return state.readersMade
        }
    }

    func ask(_ number: Int, _ reader: @escaping @Sendable (Portion<PoolUpdate>) -> Void) {
        let portion = state.withLock { state -> Portion<PoolUpdate>? in
            if let portion = state.take() { return portion }
            state.readers.append((number, reader))
            return nil
        }
        if let portion { reader(portion) }
    }

    func stopWaiting(_ number: Int) {
        let reader = state.withLock { state in
            state.readers.firstIndex { $0.number == number }.map { state.readers.remove(at: $0).reader }
        }
        reader?((Batch(), nil))
    }
}
