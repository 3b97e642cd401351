/// What happens, as a sequence to loop over.
///
/// A stream begins when it is made, holds what comes until it is read, and ends with the client or when its reader is too slow (see
/// ``StreamBuffering``). It counts until it and its iterators are gone; one that nobody reads holds the others up, so let go of it.
/// Of several readers each gets a part of the elements. May be used from any thread.
public struct PusherStream<Element: Sendable>: AsyncSequence, Sendable {
    /// Reads a stream. What waits is taken at once and handed out without suspending.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let cursor: StreamCursor<Element>

        init(_ source: StreamSource<Element>) {
            cursor = StreamCursor(source)
        }

        /// The next element; nil when the stream has ended or the task is cancelled.
        public mutating func next() async -> Element? {
            if let element = cursor.next() { return element }
            return await cursor.awaitNext()
        }

        /// The next element, read on the actor that asks for it; nil when the stream has ended or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            if let element = cursor.next() { return element }
            return await cursor.awaitNext(isolation: actor)
        }
    }

    let source: StreamSource<Element>

    /// How many elements were dropped because there was no room.
    public var dropped: Int { source.read(\.dropped) ?? 0 }

    /// Why the stream ended before the client did: `consumerTooSlow`; nil otherwise.
    public var failure: PusherError? { source.read(\.failure) ?? nil }

    /// The next element, also when the task was cancelled: for what comes to an end by itself. For streams that drop the oldest, of which
    /// one element is taken at a time.
    func nextEvenIfCancelled() async -> Element? {
        var batch = await source.wait(evenIfCancelled: true)
        source.change { $0.wasRead(batch.elements.count, bytes: batch.bytes) }
        return batch.elements.popFirst()
    }

    /// Ends the stream for its readers.
    func finish() {
        source.change { $0.finish() }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source)
    }
}

/// The place of one reader in a stream: hands out what was taken from it.
final class StreamCursor<Element: Sendable> {
    private let source: StreamSource<Element>
    private var batch = StreamQueue<Element>.Batch()
    /// What was taken and the source doesn't know to be read.
    private var taken = (count: 0, bytes: 0)

    init(_ source: StreamSource<Element>) {
        self.source = source
        source.change { $0.iterators += 1 }
    }

    deinit {
        let rest = batch.elements
        let read = taken
        source.change { queue in
            let bytes = queue.bytes(of: rest)
            queue.wasRead(read.count - rest.count, bytes: read.bytes - bytes)
            queue.putBack(rest, bytes: bytes)
            queue.iterators -= 1
        }
    }

    /// The next of what was taken.
    func next() -> Element? {
        guard let element = batch.elements.popFirst() else { return nil }
        if batch.elements.isEmpty {
            refill()
        } else if batch.isAwaited, batch.elements.count <= taken.count / 2 {
            reportHalf()
        }
        return element
    }

    /// Waits until there is something to take.
    func awaitNext(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
        batch = await source.wait()
        taken = (batch.elements.count, batch.bytes)
        return next()
    }

    /// All that was taken is read: takes what waits by now.
    private func refill() {
        let read = taken
        batch =
            source.change { queue in
                queue.wasRead(read.count, bytes: read.bytes)
                return queue.takeAhead()
            } ?? StreamQueue.Batch()
        taken = (batch.elements.count, batch.bytes)
    }

    /// The server waits for this reader: it need not wait for all that was taken.
    private func reportHalf() {
        batch.isAwaited = false
        let rest = batch.elements
        taken =
            source.change { queue in
                let bytes = queue.bytes(of: rest)
                queue.wasRead(taken.count - rest.count, bytes: taken.bytes - bytes)
                return (rest.count, bytes)
            } ?? taken
    }
}

/// One stream of a client, as its readers have it. The stream is forgotten with the last of them.
final class StreamSource<Element: Sendable>: Sendable {
    typealias Table = any WritableKeyPath<Streams, StreamTable<Element>> & Sendable

    private let core: ClientCore
    private let id: Int
    private let table: Table

    init(_ core: ClientCore, _ id: Int, in table: Table) {
        self.core = core
        self.id = id
        self.table = table
    }

    deinit {
        core.removeStream(id, from: table)
    }

    func read<Result>(_ body: (StreamQueue<Element>) -> Result) -> Result? {
        core.readState { $0.streams[keyPath: table].read(id, body) }
    }

    @discardableResult
    func change<Result>(_ body: (inout StreamQueue<Element>) -> Result) -> Result? {
        core.change { $0.streams[keyPath: table].change(id, body) }
    }

    /// Takes what waits, or waits for something; nothing when there will be nothing, or the task is cancelled.
    func wait(evenIfCancelled: Bool = false) async -> StreamQueue<Element>.Batch {
        let number = core.makeID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { reader in wait(reader, number, evenIfCancelled) }
        } onCancel: {
            if !evenIfCancelled { change { $0.stopWaiting(number) }??.resume(returning: StreamQueue.Batch()) }
        }
    }

    private func wait(_ reader: StreamQueue<Element>.Reader, _ number: Int, _ evenIfCancelled: Bool) {
        let isCancelled = Task.isCancelled && !evenIfCancelled
        let batch = change { queue -> StreamQueue<Element>.Batch? in
            if let batch = queue.take() { return batch }
            if isCancelled { return StreamQueue.Batch() }
            queue.wait(reader, number: number)
            return nil
        }
        if let batch = batch ?? StreamQueue.Batch() { reader.resume(returning: batch) }
    }
}
