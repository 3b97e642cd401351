/// The source of a stream's iterators: one stream of a client, or those of all clients of a pool.
protocol StreamReading<Element>: AnyObject, Sendable {
    associatedtype Element: Sendable

    /// The number of elements that found no room.
    var dropped: Int { get }

    /// The number of elements that nobody has taken.
    var waiting: Int { get }

    /// Ends the stream for its readers, once they have read what waits.
    func finish()

    /// So many iterators more are there.
    func noteIterators(_ difference: Int)

    /// Indicates whether a reader that has read all it took goes on with what its source has by then.
    var takesAhead: Bool { get }

    /// A reader has nothing left of what it took from a source.
    func isDone(with source: StreamSource<Element>)

    /// A reader leaves, and gives back what it took from a source and didn't read: the next reader gets it first.
    func takeBack(_ rest: StreamQueue<Element>.Batch, of source: StreamSource<Element>)

    /// Takes what waits, or waits for something; nothing when there will be nothing, or the task is cancelled. Tells whose it is.
    func wait(evenIfCancelled: Bool) async -> (batch: StreamQueue<Element>.Batch, source: StreamSource<Element>?)
}

/// The place of one reader in a stream: hands out what was taken from it.
@usableFromInline
final class StreamCursor<Element: Sendable> {
    private let reading: any StreamReading<Element>
    /// The source of the elements that were taken.
    private var source: StreamSource<Element>?
    /// The elements that were taken and that the source doesn't know to be read.
    @usableFromInline var elements: ArraySlice<Element> = []
    private var bytes = 0
    private var stride = Int.max
    /// The place of the next of them.
    @usableFromInline var position = 0
    /// The index at which the source is told what has been read: at the end, and every so often before.
    @usableFromInline var checkpoint = 0
    /// The reader was told why the stream has ended.
    private var hasThrown = false
    /// The number of elements that waited when the reading task was cancelled, and are still to be taken; nil where it wasn't.
    private var lastOnes: Int?

    init(_ reading: any StreamReading<Element>) {
        self.reading = reading
        reading.noteIterators(1)
    }

    deinit {
        if let source {
            var rest = StreamQueue<Element>.Batch(elements: elements[position...], stride: stride)
            let taken = (count: elements.count, bytes: bytes)
            source.change { queue in
                rest.bytes = queue.bytes(of: rest.elements)
                queue.wasRead(taken.count - rest.elements.count, bytes: taken.bytes - rest.bytes)
            }
            reading.takeBack(rest, of: source)
        }
        reading.noteIterators(-1)
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
        // Where there is always something to read, nothing else would end it. One look at least tells why the stream has ended.
        lastOnes = Task.isCancelled ? lastOnes ?? max(reading.waiting, 1) : nil
        guard lastOnes != 0 else { return nil }
        let batch: StreamQueue<Element>.Batch
        (batch, source) = await reading.wait(evenIfCancelled: false)
        if let failure = batch.failure, !hasThrown {
            hasThrown = true
            throw failure
        }
        lastOnes = lastOnes.map { max($0 - max(batch.elements.count, 1), 0) }
        hold(batch)
        return next()
    }

    /// Tells the source what was read. When that is all, takes what waits by now.
    @_specialize(where Element == PusherEvent)
    @usableFromInline
    func report() {
        guard let source else { return }
        reading.finishIfShuttingDown()
        let (read, rest) = (elements[..<position], elements[position...])
        let takesAhead = rest.isEmpty && reading.takesAhead && !Task.isCancelled
        let (bytes, stride) = (bytes, stride)
        let next = source.change { queue in
            let readBytes = rest.isEmpty ? bytes : queue.bytes(of: read)
            queue.wasRead(read.count, bytes: readBytes)
            guard rest.isEmpty else {
                return StreamQueue<Element>.Batch(elements: rest, bytes: bytes - readBytes, stride: stride)
            }
            return takesAhead ? queue.takeAhead() : StreamQueue<Element>.Batch()
        }
        hold(next ?? StreamQueue<Element>.Batch())
        if elements.isEmpty {
            self.source = nil
            reading.isDone(with: source)
        }
    }

    private func hold(_ batch: StreamQueue<Element>.Batch) {
        elements = batch.elements
        (bytes, stride) = (batch.bytes, batch.stride)
        position = elements.startIndex
        checkpoint = elements.startIndex + min(stride, elements.count)
    }
}
