/// An asynchronous sequence of what happens on a connection.
///
/// A stream begins when it is made, holds what comes until it is read, and ends with the client or when its reader is too slow (see
/// ``StreamBuffering``). It counts until it and its iterators are gone; one that nobody reads holds the others up, so let go of it.
/// Of several readers each gets a part of the elements. May be used from any thread.
public struct PusherStream<Element: Sendable>: AsyncSequence, Sendable {
    /// Reads a stream. What waits is taken at once and handed out without suspending.
    public struct AsyncIterator: AsyncIteratorProtocol {
        // Inlined into the program, where the type of the element is known: an element costs nearly nothing there.
        @usableFromInline let cursor: StreamCursor<Element>

        init(_ source: StreamSource<Element>) {
            cursor = StreamCursor(source)
        }

        /// The next element; nil when the stream has ended or the task is cancelled.
        @inlinable
        public mutating func next() async -> Element? {
            if let element = cursor.next() { return element }
            return await cursor.awaitNext(isolation: nil)
        }

        /// The next element, read on the actor that asks for it; nil when the stream has ended or the task is cancelled.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            if let element = cursor.next() { return element }
            return await cursor.awaitNext(isolation: actor)
        }
    }

    let source: StreamSource<Element>

    /// The number of elements that were dropped because there was no room.
    public var dropped: Int { source.read(\.dropped) ?? 0 }

    /// The reason why the stream ended before the client did: `readerTooSlow`; nil otherwise.
    public var failure: PusherError? { source.read(\.failure) ?? nil }

    /// The next element, also when the task was cancelled: for what comes to an end by itself. For streams that drop the oldest, of which
    /// one element is taken at a time.
    func nextEvenIfCancelled() async -> Element? {
        var batch = await source.wait(evenIfCancelled: true)
        source.change { $0.wasRead(batch.elements.count, bytes: batch.bytes) }
        return batch.elements.popFirst()
    }

    /// Ends the stream for its readers.
    func finish() {
        source.change { $0.finish() }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source)
    }
}

extension Pusher {
    /// Every event of every channel, and those without one.
    public var events: PusherStream<PusherEvent> { events(buffering: StreamBuffering()) }

    /// Returns this stream with a buffer of another size or another overflow policy.
    public func events(buffering: StreamBuffering) -> PusherStream<PusherEvent> {
        PusherStream(source: connection.core.events(buffering))
    }

    /// The changes of the connection's state, with their reasons.
    public var connectionStates: PusherStream<ConnectionStateChange> { connectionStates(buffering: StreamBuffering()) }

    /// Returns this stream with a buffer of another size or another overflow policy.
    public func connectionStates(buffering: StreamBuffering) -> PusherStream<ConnectionStateChange> {
        PusherStream(source: connection.core.states(buffering))
    }
}

extension PusherChannel {
    /// Every event of the channel, the protocol's own under their public names among them.
    public var events: PusherStream<PusherEvent> { events(buffering: StreamBuffering()) }

    /// Returns this stream with a buffer of another size or another overflow policy.
    public func events(buffering: StreamBuffering) -> PusherStream<PusherEvent> {
        PusherStream(source: connection.core.events(of: channel, buffering))
    }

    /// The channel's events of one name.
    public func events(named name: String, buffering: StreamBuffering = StreamBuffering()) -> PusherStream<PusherEvent> {
        PusherStream(source: connection.core.events(of: channel, named: Name(name), buffering))
    }
}

extension PusherPresenceChannel {
    /// The members who join and leave; after a reconnect, the difference it made.
    public var memberChanges: PusherStream<PresenceChange> { memberChanges(buffering: StreamBuffering()) }

    /// Returns this stream with a buffer of another size or another overflow policy.
    public func memberChanges(buffering: StreamBuffering) -> PusherStream<PresenceChange> {
        PusherStream(source: connection.core.members(of: channel, buffering))
    }
}
