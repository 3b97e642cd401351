/// The elements that wait for the readers of one stream: never more than it has room for, plus those that one read of the socket
/// brings. It is a value, and its owner makes sure that only one thread accesses it at a time.
struct StreamQueue<Element: Sendable>: Sendable {
    /// The elements that a reader takes: all that wait, so it comes back only after it has read them.
    struct Batch: Sendable {
        var elements: ArraySlice<Element> = []
        var bytes = 0
        /// The number of elements after which the reader reports that it has read them. The server may be waiting for that.
        var stride = Int.max
        /// The reason why the stream has ended, if there is one. There are no elements then.
        var failure: PusherError? { if case .failed(let error) = ending { error } else { nil } }
        var ending: Ending?

        /// Behind a reference, as a batch is passed on a few times, and hardly ever has a failure.
        indirect enum Ending {
            case failed(PusherError)
        }
    }

    /// Receives the elements for a reader that waited. Called outside the lock.
    typealias Reader = @Sendable (Batch) -> Void

    // Not a tuple, in which Swift would wrap the closure in another one.
    private struct WaitingReader {
        let number: Int
        let reader: Reader
    }

    private let buffering: StreamBuffering
    private let size: @Sendable (Element) -> Int
    private var gap: StreamGap<Element>?
    /// The elements that wait, behind some that were dropped or taken one by one. A slice would be slower to append to.
    private var slots: [Element] = []
    private var taken = 0
    /// The bytes of those that wait; the watermark also counts what a reader took and hasn't read.
    private var bytes = 0
    private var watermark: Watermark
    private var readers: [WaitingReader] = []
    private(set) var isFinished = false
    /// The places up to which readers have read, if those are to be known.
    var places: ReadPlaces?
    /// The number of elements after which a reader reports its place: to report each takes longer than all else on an event's way.
    private static var placeStride: Int { 16 }
    private let event: @Sendable (Element) -> PusherEvent?
    /// The arrival times of the oldest element that waits, of the oldest of those that a reader took last, and of the oldest of
    /// those that it may still handle.
    private var (waitingSince, takenSince, handledSince): (Instant?, Instant?, Instant?)
    /// Indicates whether readers take elements before they hand out the last one that they have.
    var isTakenAhead = false
    private(set) var dropped = 0
    private(set) var failure: PusherError?
    /// The number of iterators. Only a single iterator may take more than it needs.
    var iterators = 0 { didSet { if iterators > oldValue { (isTold, wasIterated) = (false, true) } } }
    private var wasIterated = false
    /// Indicates whether a later stream has told what nobody read of this one.
    private(set) var isTold = false

    /// - Parameter gapElement: Makes the element that reports elements dropped since a time, if the stream has such elements.
    init(
        _ buffering: StreamBuffering, size: @escaping @Sendable (Element) -> Int,
        event: @escaping @Sendable (Element) -> PusherEvent? = { _ in nil }, gapElement: (@Sendable (Instant) -> Element)? = nil
    ) {
        self.event = event
        self.buffering = buffering
        self.size = size
        gap = gapElement.map { StreamGap(makeElement: $0) }
        watermark = Watermark(limit: buffering.limit, byteLimit: buffering.byteLimit)
    }

    /// The number of elements that nobody has taken.
    var waiting: Int { slots.count - taken + (gap?.isLeading == true ? 1 : 0) }

    /// Indicates whether no element waits.
    private var isEmpty: Bool { taken == slots.count }

    /// Indicates whether the server has to wait for this stream.
    var isOver: Bool { watermark.state == .over && buffering.overflow.pauses }

    // MARK: Writing

    /// Adds an element, or drops one if there is no room.
    mutating func append(_ element: Element, at now: Instant) {
        guard !isFinished else {
            if failure?.kind == .readerTooSlow { dropped += 1 }
            return
        }
        if waitingSince == nil { waitingSince = now }
        switch buffering.overflow {
        case .dropOldest:
            while watermark.isFull, let oldest = popFirst() { drop(oldest) }
            gap?.appended(at: now)
        case .dropNewest where watermark.isFull, .pauseThenDrop where watermark.isFull && watermark.drops:
            dropped += 1
            if let element = gap?.droppedNewest(at: now) { add(element) }
            return
        case .dropNewest, .pauseThenDrop, .pauseThenEnd:
            gap?.appendedBehindGap()
        }
        add(element)
    }

    private mutating func add(_ element: Element) {
        let size = size(element)
        watermark.add(bytes: size)
        bytes += size
        slots.append(element)
    }

    private mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        taken += 1
        let first = slots[taken - 1]
        // Only now and then, so each removal costs the same on average.
        if isEmpty || taken >= 64 && taken * 2 >= slots.count {
            slots.removeFirst(taken)
            taken = 0
        }
        return first
    }

    private mutating func drop(_ element: Element) {
        let size = size(element)
        watermark.remove(bytes: size)
        bytes -= size
        dropped += 1
        gap?.droppedOldest()
    }

    /// Ends the stream, or lets it drop elements, if it had no room for too long. Returns whether it had none.
    mutating func pauseLimitReached(_ name: String) -> Bool {
        guard isOver else { return false }
        if buffering.overflow == .pauseThenEnd {
            finish(
                PusherError(
                    .readerTooSlow, message: "nobody read \(watermark.count) elements of \(name) for too long; it has ended"))
        } else {
            watermark.pauseLimitReached()
        }
        return true
    }

    /// Finishes the stream, with or without an error. Waiting elements can still be read.
    mutating func finish(_ failure: PusherError? = nil) {
        guard !isFinished else { return }
        isFinished = true
        self.failure = failure
        watermark.stopMakingWait()
    }

    // MARK: Reading

    /// Indicates whether a reader may take more than it needs now. It may not if the oldest waiting elements may yet be dropped,
    /// or if several readers share the elements.
    private var handsOutAll: Bool { buffering.overflow != .dropOldest && iterators <= 1 }

    /// Takes the elements that a reader may have before it needs them.
    mutating func takeAhead() -> Batch {
        handsOutAll ? take(ahead: true) ?? Batch() : Batch()
    }

    /// Takes the elements for a reader; returns nil if it has to wait.
    mutating func take(ahead: Bool = false) -> Batch? {
        guard !isEmpty else { return isFinished ? Batch(ending: failure.map { .failed($0) }) : nil }
        // As long as some of what was taken isn't read, its time counts.
        if watermark.count == slots.count - taken {
            handledSince = ahead || isTakenAhead ? takenSince ?? waitingSince : waitingSince
            takenSince = waitingSince
        }
        var batch = Batch()
        if let element = gap?.takeLeading() {
            watermark.add(bytes: 0)
            batch.elements.append(element)
        } else if !handsOutAll {
            if let element = popFirst() {
                batch.bytes = size(element)
                batch.elements.append(element)
                gap?.tookOldest()
                if isEmpty { gap?.tookNewest() }
            }
        } else {
            batch.elements = slots[taken...]
            (slots, taken) = ([], 0)
            batch.bytes = bytes
        }
        if isEmpty { waitingSince = nil }
        bytes -= batch.bytes
        batch.stride = places == nil ? stride(of: batch) : min(stride(of: batch), Self.placeStride)
        return batch
    }

    /// Returns the number of elements that take up about an eighth of the room. The server then waits no longer than for half of
    /// the room and this eighth to be read.
    private func stride(of batch: Batch) -> Int {
        let size = max(batch.bytes / max(batch.elements.count, 1), 1)
        return max(min(buffering.limit, buffering.byteLimit / size) / 8, 1)
    }

    /// Notes that a reader has read some of the elements it took.
    mutating func wasRead(_ elements: ArraySlice<Element>, bytes: Int) {
        watermark.remove(count: elements.count, bytes: bytes)
        guard places != nil else { return }
        for element in elements {
            if let envelope = event(element)?.envelope { places?.read(envelope) }
        }
    }

    /// Puts back the elements that a reader took and didn't read.
    mutating func putBack(_ rest: ArraySlice<Element>, bytes: Int) {
        if !rest.isEmpty { waitingSince = takenSince }
        slots = Array(rest + slots[taken...])
        taken = 0
        self.bytes += bytes
        gap?.putBack(rest.count)
    }

    /// Makes a reader wait until there is an element.
    mutating func wait(_ reader: @escaping Reader, number: Int) {
        readers.append(WaitingReader(number: number, reader: reader))
    }

    /// Removes a waiting reader and returns it; nil if it doesn't wait.
    mutating func stopWaiting(_ number: Int) -> Reader? {
        readers.firstIndex { $0.number == number }.map { readers.remove(at: $0).reader }
    }

    /// Removes a waiting reader, and returns it with the elements for it; nil if no reader waits or there is nothing for it.
    mutating func wakeUp() -> (reader: Reader, batch: Batch)? {
        guard !readers.isEmpty, let batch = take() else { return nil }
        // Mostly one waits, and the last one is cheaper to remove.
        return ((readers.count == 1 ? readers.removeLast() : readers.removeFirst()).reader, batch)
    }

    /// Indicates whether ``wakeUp()`` returns a reader.
    var hasWakeUps: Bool { !readers.isEmpty && (!isEmpty || isFinished) }

    /// The time before which everything that arrived was handled; nil if nothing arrived. The element that was handed out last
    /// doesn't count: an error may have ended the loop that handled it.
    var unreadSince: Instant? { handledSince ?? waitingSince }

    /// Returns the time since which nobody reads what arrives, if the stream or the loop over it has ended, for a later one to tell.
    mutating func tell() -> Instant? {
        guard isFinished || iterators == 0 && wasIterated, !isTold, let unreadSince else { return nil }
        isTold = true
        return unreadSince
    }

    func bytes(of elements: ArraySlice<Element>) -> Int { elements.reduce(0) { $0 + size($1) } }
}
