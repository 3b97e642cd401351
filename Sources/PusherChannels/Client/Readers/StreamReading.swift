/// The source of a stream's iterators: one stream of a client, or those of all clients of a pool.
protocol StreamReading<Element>: AnyObject, Sendable {
    associatedtype Element: Sendable

    /// The number of elements that found no room.
    var dropped: Int { get }

    /// The number of elements that nobody has taken.
    var waiting: Int { get }

    /// Ends the stream for its readers, once they have read what waits.
    func finish()

    /// Notes a change in the number of iterators.
    func noteIterators(_ difference: Int)

    /// Indicates whether a reader that has read everything it took continues with the elements its source has by then.
    var takesAhead: Bool { get }

    /// Notes that a reader has read everything it took from a source.
    func isDone(with source: StreamSource<Element>)

    /// Takes back the elements that a departing reader took from a source and didn't read. The next reader gets them first.
    func takeBack(_ rest: StreamQueue<Element>.Batch, of source: StreamSource<Element>)

    /// Returns a new number for a reader.
    func makeReaderNumber() -> Int

    /// Calls the closure with the waiting elements and their source, at once or as soon as there are some; with no elements if
    /// none will come, or if the reader stops waiting.
    func ask(_ number: Int, _ reader: @escaping @Sendable (Portion<Element>) -> Void)

    /// Calls a waiting reader with no elements.
    func stopWaiting(_ number: Int)
}

/// Elements that a reader takes, and their source.
typealias Portion<Element: Sendable> = (batch: StreamQueue<Element>.Batch, source: StreamSource<Element>?)

/// The position of one reader in a stream. It hands out the elements that the reader took.
@usableFromInline
final class StreamCursor<Element: Sendable> {
    private let reading: any StreamReading<Element>
    /// The reading if it is a single stream, which is mostly so and known to the compiler.
    private let stream: StreamSource<Element>?
    private let number: Int
    /// The source of the elements that were taken.
    @exclusivity(unchecked)  // Here and below: only one task has the cursor, and calls nothing while it changes a part of it.
    private var source: StreamSource<Element>?
    /// The elements that were taken and not yet reported to the source as read.
    @exclusivity(unchecked)
    @usableFromInline var elements: ArraySlice<Element> = []
    @exclusivity(unchecked)
    private var bytes = 0
    @exclusivity(unchecked)
    private var stride = Int.max
    /// The index of the next element.
    @exclusivity(unchecked)
    @usableFromInline var position = 0
    /// The index at which the read elements are reported to the source: at the end, and at intervals before.
    @exclusivity(unchecked)
    @usableFromInline var checkpoint = 0
    /// Indicates whether the reader was given the error that ended the stream.
    private var hasThrown = false
    /// The number of elements that waited when the reading task was cancelled and are still to be taken; nil if it wasn't
    /// cancelled.
    @exclusivity(unchecked)
    private var lastOnes: Int?
    @exclusivity(unchecked)
    private var takesAhead = true
    private let mayTakeAhead: (() -> Bool)?

    /// - Parameter mayTakeAhead: Returns false if the reader has something else to do once it has read everything it took.
    init(_ reading: any StreamReading<Element>, mayTakeAhead: (() -> Bool)? = nil) {
        self.reading = reading
        self.mayTakeAhead = mayTakeAhead
        stream = reading as? StreamSource<Element>
        number = reading.makeReaderNumber()
        reading.noteIterators(1)
    }

    deinit {
        if let source {
            var rest = StreamQueue<Element>.Batch(elements: elements[position...], stride: stride)
            let taken = (read: elements[..<position], bytes: bytes)
            source.change { queue in
                rest.bytes = queue.bytes(of: rest.elements)
                queue.wasRead(taken.read, bytes: taken.bytes - rest.bytes)
            }
            reading.takeBack(rest, of: source)
        }
        reading.noteIterators(-1)
    }

    /// Returns the next of the elements that were taken; nil if none is left.
    @inlinable
    func next() -> Element? {
        guard position < elements.endIndex else { return nil }
        let element = elements[position]
        position += 1
        if position >= checkpoint { report() }
        return element
    }

    /// Waits until there is something to take.
    // Programs mostly wait for events, and unspecialized code would cost more than the waiting.
    @_specialize(where Element == PusherEvent)
    @usableFromInline
    func awaitNext(isolation actor: isolated (any Actor)?) async throws(PusherError) -> Element? {
        // If there is always something to read, only this count ends the stream. It is at least one, as one look tells why the
        // stream has ended.
        lastOnes = Task.isCancelled ? lastOnes ?? max(reading.waiting, 1) : nil
        guard lastOnes != 0 else { return nil }
        let batch: StreamQueue<Element>.Batch
        (batch, source) = await wait(isolation: actor)
        if let failure = batch.failure, !hasThrown {
            hasThrown = true
            throw failure
        }
        lastOnes = lastOnes.map { max($0 - max(batch.elements.count, 1), 0) }
        hold(batch)
        return next()
    }

    /// Takes the waiting elements, or waits for some. There are no elements if none will come, or if the task is cancelled. The
    /// reader stays on its actor: another change of the executor would cost more than the rest.
    @inline(__always)
    private func wait(isolation actor: isolated (any Actor)?) async -> Portion<Element> {
        let (reading, number) = (reading, number)
        return await withTaskCancellationHandler {
            await reading.endingGracefully {
                // Not a checked one, which takes a twelfth of the instructions of an event that wakes its reader. A source keeps
                // one closure for each reader that waits, and removes it to call it.
                await withUnsafeContinuation { ask($0) }
            }
        } onCancel: {
            reading.stopWaiting(number)
        }
    }

    @inline(__always)
    private func ask(_ reader: UnsafeContinuation<Portion<Element>, Never>) {
        if let stream {
            stream.ask({ reader.resume(returning: ($0, stream)) }, number: number)
        } else {
            reading.ask(number) { reader.resume(returning: $0) }
        }
        // A cancellation before the reader waits finds no reader to wake, so this looks for one after it was added.
        if Task.isCancelled { reading.stopWaiting(number) }
    }

    /// Reports the read elements to the source. If that is all of them, takes those that wait by now.
    @_specialize(where Element == PusherEvent)
    @usableFromInline
    func report() {
        guard let source else { return }
        reading.finishIfShuttingDown()
        let (read, rest) = (elements[..<position], elements[position...])
        let takesAhead = rest.isEmpty && reading.takesAhead && takesAhead && mayTakeAhead?() != false
        let (bytes, stride) = (bytes, stride)
        let next = source.change { queue in
            let readBytes = rest.isEmpty ? bytes : queue.bytes(of: read)
            queue.wasRead(read, bytes: readBytes)
            guard rest.isEmpty else {
                return StreamQueue<Element>.Batch(elements: rest, bytes: bytes - readBytes, stride: stride)
            }
            return takesAhead && queue.waiting > 0 && !Task.isCancelled ? queue.takeAhead() : StreamQueue<Element>.Batch()
        }
        hold(next ?? StreamQueue<Element>.Batch())
        if elements.isEmpty {
            self.source = nil
            reading.isDone(with: source)
        }
    }

    /// Takes the rest of the elements at once, and no others.
    func takeRest() -> ArraySlice<Element> {
        let rest = elements[position...]
        position = elements.endIndex
        takesAhead = false
        report()
        takesAhead = true
        return rest
    }

    /// Holds elements that were taken for the reader, once it has read those before.
    func hold(_ batch: StreamQueue<Element>.Batch, of source: StreamSource<Element>?) {
        self.source = source
        hold(batch)
    }

    private func hold(_ batch: StreamQueue<Element>.Batch) {
        elements = batch.elements
        (bytes, stride) = (batch.bytes, batch.stride)
        position = elements.startIndex
        checkpoint = elements.startIndex + min(stride, elements.count)
    }
}
