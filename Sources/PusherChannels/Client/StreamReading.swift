/// The place of one reader in a stream: hands out what was taken from it.
@usableFromInline
final class StreamCursor<Element: Sendable> {
    private let source: StreamSource<Element>
    /// The elements that were taken and that the source doesn't know to be read.
    @usableFromInline var elements: ArraySlice<Element> = []
    private var bytes = 0
    /// The place of the next of them.
    @usableFromInline var position = 0
    /// Where the source is to know what has been read: at the end, or at half where the server waits for that.
    @usableFromInline var checkpoint = 0
    /// The reader was told why the stream has ended.
    private var hasThrown = false

    init(_ source: StreamSource<Element>) {
        self.source = source
        source.change { $0.iterators += 1 }
    }

    deinit {
        let (rest, taken) = (elements[position...], (count: elements.count, bytes: bytes))
        source.change { queue in
            let bytes = queue.bytes(of: rest)
            queue.wasRead(taken.count - rest.count, bytes: taken.bytes - bytes)
            queue.putBack(rest, bytes: bytes)
            queue.iterators -= 1
        }
    }

    /// The next of what was taken.
    @inlinable
    func next() -> Element? {
        guard position < elements.endIndex else { return nil }
        let element = elements[position]
        position += 1
        if position >= checkpoint { report() }
        return element
    }

    /// Waits until there is something to take.
    // Events are what programs wait for most: not to know their type would cost more than the waiting.
    @_specialize(where Element == PusherEvent)
    @usableFromInline
    func awaitNext(isolation actor: isolated (any Actor)?) async throws(PusherError) -> Element? {
        let batch = await source.wait()
        if let failure = batch.failure, !hasThrown {
            hasThrown = true
            throw failure
        }
        hold(batch)
        return next()
    }

    /// Tells the source what was read. When that is all, takes what waits by now.
    @_specialize(where Element == PusherEvent)
    @usableFromInline
    func report() {
        source.finishIfShuttingDown()
        let rest = elements[position...]
        let taken = (count: elements.count, bytes: bytes)
        let next = source.change { queue in
            let bytes = queue.bytes(of: rest)
            queue.wasRead(taken.count - rest.count, bytes: taken.bytes - bytes)
            return rest.isEmpty ? queue.takeAhead() : StreamQueue<Element>.Batch(elements: rest, bytes: bytes)
        }
        hold(next ?? StreamQueue<Element>.Batch())
    }

    private func hold(_ batch: StreamQueue<Element>.Batch) {
        elements = batch.elements
        bytes = batch.bytes
        position = elements.startIndex
        // The server need not wait until all that was taken is read.
        checkpoint = batch.isAwaited ? elements.startIndex + (elements.count + 1) / 2 : elements.endIndex
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
    @_specialize(where Element == PusherEvent)
    func wait(evenIfCancelled: Bool = false) async -> StreamQueue<Element>.Batch {
        let number = core.makeID()
        return await withTaskCancellationHandler {
            await endingGracefully(unless: evenIfCancelled) {
                await withCheckedContinuation { reader in wait(reader, number, evenIfCancelled) }
            }
        } onCancel: {
            if !evenIfCancelled { stopWaiting(number) }
        }
    }

    private func wait(_ reader: StreamQueue<Element>.Reader, _ number: Int, _ evenIfCancelled: Bool) {
        let batch = change { queue -> StreamQueue<Element>.Batch? in
            if let batch = queue.take() { return batch }
            queue.wait(reader, number: number)
            return nil
        }
        if let batch = batch ?? StreamQueue.Batch() { return reader.resume(returning: batch) }
        // Whoever cancels before the reader waits finds nobody to wake: it looks for itself, now that it can be found.
        if Task.isCancelled, !evenIfCancelled { stopWaiting(number) }
    }

    private func stopWaiting(_ number: Int) {
        change { $0.stopWaiting(number) }??.resume(returning: StreamQueue.Batch())
    }
}
