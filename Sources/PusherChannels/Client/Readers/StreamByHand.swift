/// A stream without a client: its elements come from a fake in the place of one.
final class StreamByHand<Element: Sendable>: StreamReading {
    private struct State: Sendable {
        var queue = StreamQueue<Element>(StreamBuffering()) { _ in 0 }
        var lastReader = 0
    }

    private let state: Locked<State>

    init() {
        var state = State()
        // As if there were several readers, so that each element is taken only when it is needed.
        state.queue.iterators = 2
        self.state = Locked(state)
    }

    /// Changes the queue, and resumes the readers that have something to read then.
    func change<Result>(_ body: (inout StreamQueue<Element>) -> Result) -> Result {
        let (result, wakeUps) = state.withLock { state in
            let result = body(&state.queue)
            var wakeUps: [(reader: StreamQueue<Element>.Reader, batch: StreamQueue<Element>.Batch)] = []
            while let wakeUp = state.queue.wakeUp() {
                state.queue.wasRead(wakeUp.batch.elements, bytes: 0)
                wakeUps.append(wakeUp)
            }
            return (result, wakeUps)
        }
        for (reader, batch) in wakeUps { reader(batch) }
        return result
    }

    var dropped: Int { 0 }
    var waiting: Int { state.withLock(\.queue.waiting) }
    var takesAhead: Bool { false }

    func finish() { change { $0.finish() } }
    func noteIterators(_ difference: Int) {}
    func isDone(with source: StreamSource<Element>) {}
    func takeBack(_ rest: StreamQueue<Element>.Batch, of source: StreamSource<Element>) {}

    func makeReaderNumber() -> Int {
        state.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
    }

    func ask(_ number: Int, _ reader: @escaping @Sendable (Portion<Element>) -> Void) {
        change { $0.wait({ reader(($0, nil)) }, number: number) }
    }

    func stopWaiting(_ number: Int) {
        change { $0.stopWaiting(number) }?(StreamQueue<Element>.Batch())
    }
}
