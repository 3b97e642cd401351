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
            await withCheckedContinuation { reader in wait(reader, number, evenIfCancelled) }
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
