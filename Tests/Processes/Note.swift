/// A sequence of values that one task sends to another, in order.
package struct Note<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    package func send(_ value: Value) {
        continuation.yield(value)
    }

    /// Ends the sequence.
    package func finish() {
        continuation.finish()
    }

    package func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}
