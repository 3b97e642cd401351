/// The client that streams belong to.
protocol StreamOwner: AnyObject, Sendable {
    var readers: Readers { get }
    /// Notes that the server has to wait for readers from now on, or no longer has to.
    func readersHaveCrossed()
    func removeStream<Element>(_ id: Int, from table: StreamSource<Element>.Table)
}

/// One stream of a client, as its readers hold it. It is removed from the client when the last of them is gone.
final class StreamSource<Element: Sendable>: StreamReading {
    typealias Batch = StreamQueue<Element>.Batch
    typealias Table = any WritableKeyPath<Streams, StreamTable<Element>> & Sendable

    let owner: any StreamOwner
    private let id: Int
    private let table: Table

    init(_ owner: any StreamOwner, _ id: Int, in table: Table) {
        self.owner = owner
        self.id = id
        self.table = table
    }

    deinit {
        owner.removeStream(id, from: table)
    }

    @discardableResult
    func change<Result>(_ body: (inout StreamQueue<Element>) -> Result) -> Result? {
        let (result, isCrossing) = owner.readers.report { $0[keyPath: table].change(id, body) }
        if isCrossing { owner.readersHaveCrossed() }
        return result
    }

    /// Calls the closure with the waiting elements, at once or as soon as there are some; with none if none will come.
    func ask(_ reader: @escaping StreamQueue<Element>.Reader, number: Int = 0) {
        let batch = change { queue -> Batch? in
            if let batch = queue.take() { return batch }
            queue.wait(reader, number: number)
            return nil
        }
        if let batch = batch ?? Batch() { reader(batch) }
    }

    // MARK: StreamReading

    var dropped: Int { owner.readers.change { $0[keyPath: table].read(id, \.dropped) } ?? 0 }

    var waiting: Int { owner.readers.change { $0[keyPath: table].read(id, \.waiting) } ?? 0 }

    func finish() {
        change { $0.finish() }
    }

    func noteIterators(_ difference: Int) {
        change { $0.iterators += difference }
    }

    let takesAhead = true

    func isDone(with source: StreamSource) {}

    func takeBack(_ rest: Batch, of source: StreamSource) {
        change { $0.putBack(rest.elements, bytes: rest.bytes) }
    }

    func makeReaderNumber() -> Int { owner.readers.change { $0.makeNumber() } }

    func ask(_ number: Int, _ reader: @escaping @Sendable (Portion<Element>) -> Void) {
        ask({ reader(($0, self)) }, number: number)
    }

    func stopWaiting(_ number: Int) {
        change { $0.stopWaiting(number) }??(Batch())
    }
}
