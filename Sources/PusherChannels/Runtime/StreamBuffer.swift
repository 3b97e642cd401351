/// What waits for the reader of one stream, never more than it has room for and what one read of the socket brings.
final class StreamBuffer<Element: Sendable>: Sendable, Consumer {
    private struct State {
        var elements: ArraySlice<Element> = []
        var readers: [Int: CheckedContinuation<Element?, Never>] = [:]
        var nextReader = 0
        var isFinished = false
        var pace = Pace.keepingUp
        var dropped = 0
        var failure: PusherError?
    }

    private let state = Locked(State())
    private let buffering: StreamBuffering
    private let changed: @Sendable () -> Void
    private let ended: @Sendable () -> Void

    /// `changed` is called, outside the lock, when ``isBehind`` may have changed, `ended` when nobody has the stream any more.
    init(_ buffering: StreamBuffering, changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void) {
        self.buffering = buffering
        self.changed = changed
        self.ended = ended
    }

    deinit {
        if isBehind { changed() }
        ended()
    }

    var isBehind: Bool { state.withLock { $0.pace == .behind } }
    var dropped: Int { state.withLock { $0.dropped } }
    var failure: PusherError? { state.withLock { $0.failure } }

    // MARK: Writing

    func send(_ element: Element) {
        let (reader, isNews) = state.withLock { state -> (CheckedContinuation<Element?, Never>?, Bool) in
            guard !state.isFinished else { return (nil, false) }
            if let first = state.readers.keys.min() { return (state.readers.removeValue(forKey: first), false) }
            return (nil, append(element, to: &state))
        }
        reader?.resume(returning: element)
        if isNews { changed() }
    }

    /// Tells whether the stream is behind now and was not before.
    private func append(_ element: Element, to state: inout State) -> Bool {
        let isFull = state.elements.count >= buffering.limit
        switch buffering.overflow {
        case .dropOldest where isFull:
            state.elements.removeFirst()
            state.dropped += 1
        case .dropNewest where isFull, .pauseThenDrop where isFull && state.pace == .dropping:
            state.dropped += 1
            return false
        case .dropOldest, .dropNewest, .pauseThenDrop, .pauseThenEnd:
            break
        }
        state.elements.append(element)
        guard buffering.overflow.pauses, state.pace == .keepingUp, state.elements.count >= buffering.limit else { return false }
        state.pace = .behind
        return true
    }

    /// There was no room for too long.
    func pauseLimitReached(heardUpTo time: MonotonicTime) {
        let readers = state.withLock { state -> [CheckedContinuation<Element?, Never>] in
            guard state.pace == .behind else { return [] }
            guard buffering.overflow == .pauseThenEnd else {
                state.pace = .dropping
                return []
            }
            let problem = "nobody read \(state.elements.count) elements of a stream for too long; it has ended"
            state.failure = PusherError(.consumerTooSlow, message: problem)
            return finish(&state)
        }
        for reader in readers { reader.resume(returning: nil) }
    }

    func finish() {
        let readers = state.withLock { finish(&$0) }
        for reader in readers { reader.resume(returning: nil) }
    }

    private func finish(_ state: inout State) -> [CheckedContinuation<Element?, Never>] {
        state.isFinished = true
        state.pace = .keepingUp
        defer { state.readers = [:] }
        return Array(state.readers.values)
    }

    // MARK: Reading

    /// The next element; nil when there will be none, or the task is cancelled.
    func next() async -> Element? {
        let reader = makeReader()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in read(continuation, reader, whenCancelled: false) }
        } onCancel: {
            state.withLock { $0.readers.removeValue(forKey: reader) }?.resume(returning: nil)
        }
    }

    /// The same, cancelled or not: for what comes to an end by itself.
    func nextEvenIfCancelled() async -> Element? {
        await withCheckedContinuation { continuation in read(continuation, makeReader(), whenCancelled: true) }
    }

    private func makeReader() -> Int {
        state.withLock { state in
            state.nextReader += 1
            return state.nextReader
        }
    }

    private func read(_ continuation: CheckedContinuation<Element?, Never>, _ reader: Int, whenCancelled: Bool) {
        let (element, mustWait, isNews) = state.withLock { state -> (Element?, Bool, Bool) in
            if let element = state.elements.popFirst() { return (element, false, caughtUp(&state)) }
            if state.isFinished || (Task.isCancelled && !whenCancelled) { return (nil, false, false) }
            state.readers[reader] = continuation
            return (nil, true, false)
        }
        if isNews { changed() }
        if !mustWait { continuation.resume(returning: element) }
    }

    /// Tells whether the stream was behind and has room again.
    private func caughtUp(_ state: inout State) -> Bool {
        guard state.pace != .keepingUp, state.elements.count <= buffering.limit / 2 else { return false }
        state.pace = .keepingUp
        return true
    }
}
