/// The elements that wait for the readers of one stream, never more than it has room for and what one read of the socket brings. A
/// value: its owner sees to that one thread at a time has it.
struct StreamQueue<Element: Sendable>: Sendable {
    /// The elements that a reader takes: all that wait, so that it comes back only when it has read that.
    struct Batch: Sendable {
        var elements: ArraySlice<Element> = []
        var bytes = 0
        /// Indicates whether the server waits for this reader: it says when it has read half.
        var isAwaited = false
    }

    typealias Reader = CheckedContinuation<Batch, Never>

    private let buffering: StreamBuffering
    private let size: @Sendable (Element) -> Int
    private var elements: ArraySlice<Element> = []
    /// Of these; the watermark counts what a reader took and hasn't read, too.
    private var bytes = 0
    private var watermark: Watermark
    private var readers: [(number: Int, reader: Reader)] = []
    private var isFinished = false
    private(set) var dropped = 0
    private(set) var failure: PusherError?
    /// The number of iterators: only one that is alone may take more than it needs.
    var iterators = 0

    init(_ buffering: StreamBuffering, size: @escaping @Sendable (Element) -> Int) {
        self.buffering = buffering
        self.size = size
        watermark = Watermark(limit: buffering.limit, byteLimit: buffering.byteLimit)
    }

    /// Indicates whether the server has to wait for it.
    var isOver: Bool { watermark.state == .over && buffering.overflow.pauses }

    // MARK: Writing

    /// Adds an element, or drops what there is no room for.
    mutating func append(_ element: Element) {
        guard !isFinished else { return }
        switch buffering.overflow {
        case .dropOldest:
            while watermark.isFull, let oldest = elements.popFirst() { drop(oldest) }
        case .dropNewest where watermark.isFull, .pauseThenDrop where watermark.isFull && watermark.state == .dropping:
            dropped += 1
            return
        case .dropNewest, .pauseThenDrop, .pauseThenEnd:
            break
        }
        let size = size(element)
        watermark.add(bytes: size)
        bytes += size
        elements.append(element)
    }

    private mutating func drop(_ element: Element) {
        let size = size(element)
        watermark.remove(bytes: size)
        bytes -= size
        dropped += 1
    }

    /// There was no room for too long.
    mutating func pauseLimitReached() {
        guard isOver else { return }
        guard buffering.overflow == .pauseThenEnd else { return watermark.pauseLimitReached() }
        let problem = "nobody read \(watermark.count) elements of a stream for too long; it has ended"
        failure = PusherError(.readerTooSlow, message: problem)
        finish()
    }

    /// No more will come; what waits can still be read.
    mutating func finish() {
        isFinished = true
        watermark.giveUp()
    }

    // MARK: Reading

    /// Indicates whether a reader may take more than it needs now: the oldest that wait may yet be dropped, and of several readers
    /// each gets a part.
    private var handsOutAll: Bool { buffering.overflow != .dropOldest && iterators <= 1 }

    /// Takes what a reader may have before it needs it.
    mutating func takeAhead() -> Batch {
        handsOutAll ? take() ?? Batch() : Batch()
    }

    /// Takes what a reader gets now; nil if it has to wait.
    mutating func take() -> Batch? {
        guard !elements.isEmpty else { return isFinished ? Batch() : nil }
        var batch = Batch()
        if !handsOutAll {
            if let element = elements.popFirst() {
                batch.bytes = size(element)
                batch.elements.append(element)
            }
        } else {
            swap(&batch.elements, &elements)
            batch.bytes = bytes
        }
        bytes -= batch.bytes
        batch.isAwaited = isOver
        return batch
    }

    /// A reader has read so much of what it took.
    mutating func wasRead(_ count: Int, bytes: Int) {
        watermark.remove(count: count, bytes: bytes)
    }

    /// A reader gives back what it took and didn't read.
    mutating func putBack(_ rest: ArraySlice<Element>, bytes: Int) {
        elements = rest + elements
        self.bytes += bytes
    }

    /// Has a reader wait until there is something.
    mutating func wait(_ reader: Reader, number: Int) {
        readers.append((number, reader))
    }

    /// A reader waits no longer; nil if it doesn't wait.
    mutating func stopWaiting(_ number: Int) -> Reader? {
        readers.firstIndex { $0.number == number }.map { readers.remove(at: $0).reader }
    }

    /// A reader that waits, and what there is for it.
    mutating func wakeUp() -> (reader: Reader, batch: Batch)? {
        guard !readers.isEmpty, let batch = take() else { return nil }
        return (readers.removeFirst().reader, batch)
    }

    var hasReaders: Bool { !readers.isEmpty }

    func bytes(of elements: ArraySlice<Element>) -> Int { elements.reduce(0) { $0 + size($1) } }
}
