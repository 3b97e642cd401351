/// An asynchronous sequence of the data of events, decoded; it ends as the ``PusherStream`` of the events does.
public struct DecodedStream<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The value of an event, or the reason why its data is none.
    public typealias Element = Result<Value, any Error>

    /// The error that a stream ends with.
    public typealias Failure = PusherError

    /// Reads a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline var events: PusherStream<PusherEvent>.AsyncIterator

        /// The next value; nil when the stream has ended or the task is cancelled. Throws the reason why it ended, once.
        @inlinable
        public mutating func next() async throws(PusherError) -> Element? {
            guard let event = try await events.next() else { return nil }
            return Result { try event.decode(Value.self) }
        }

        /// The next value, read on the actor that asks for it; nil when the stream has ended or the task is cancelled. Throws the reason
        /// why it ended, once.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PusherError) -> Element? {
            guard let event = try await events.next(isolation: actor) else { return nil }
            return Result { try event.decode(Value.self) }
        }
    }

    let events: PusherStream<PusherEvent>

    /// The number of events that were dropped because there was no room.
    public var dropped: Int { events.dropped }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: events.makeAsyncIterator())
    }
}
