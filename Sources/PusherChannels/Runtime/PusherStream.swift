/// What happens, as a sequence to loop over.
///
/// A stream begins when it is made, holds what comes until it is read, and ends with the client or when its reader is too slow (see
/// ``StreamBuffering``). It counts until it and its iterators are gone; one that nobody reads holds the others up, so let go of it.
/// Of several readers each gets a part of the elements. May be used from any thread.
public struct PusherStream<Element: Sendable>: AsyncSequence, Sendable {
    /// Reads a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let buffer: StreamBuffer<Element>

        /// The next element; nil when the stream has ended or the task is cancelled.
        public mutating func next() async -> Element? {
            await buffer.next()
        }
    }

    let buffer: StreamBuffer<Element>

    /// How many elements were dropped because there was no room.
    public var dropped: Int { buffer.dropped }

    /// Why the stream ended before the client did: `consumerTooSlow`; nil otherwise.
    public var failure: PusherError? { buffer.failure }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(buffer: buffer)
    }
}
