/// An asynchronous sequence of decoded event data. It ends the same way as the ``PusherStream`` of the events.
public struct DecodedStream<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The decoded value of an event, or the error that decoding it threw.
    public typealias Element = Result<Value, any Error>

    /// The error that a stream ends with.
    public typealias Failure = PusherError

    /// The iterator of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline var events: PusherStream<PusherEvent>.AsyncIterator

        /// Returns the next value, or nil if the stream has ended or the task is cancelled. Throws the error that ended the
        /// stream, once.
        @inlinable
        public mutating func next() async throws(PusherError) -> Element? {
            guard let event = try await events.next() else { return nil }
            return Result { try event.decode(Value.self) }
        }

        /// Returns the next value, read on the given actor, or nil if the stream has ended or the task is cancelled. Throws the
        /// error that ended the stream, once.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PusherError) -> Element? {
            guard let event = try await events.next(isolation: actor) else { return nil }
            return Result { try event.decode(Value.self) }
        }
    }

    let events: PusherStream<PusherEvent>

    /// Creates a stream of the data of events.
    public init(events: PusherStream<PusherEvent>) {
        self.events = events
    }

    /// The number of events that were dropped because the buffer was full.
    public var dropped: Int { events.dropped }

    /// Returns an iterator over the stream.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: events.makeAsyncIterator())
    }
}
