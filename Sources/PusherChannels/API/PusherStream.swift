/// An asynchronous sequence of what happens on a connection.
///
/// A stream begins when it is made and holds what comes until it is read. It ends where nothing can come any more, and throws the
/// ``PusherError`` that is the reason, if there is one:
///
/// * the client gave up: an unknown application key, say, or as many failed attempts as it may make;
/// * the channel was refused, and to try again can't help; it was unsubscribed (no error);
/// * ``Pusher/run()`` has ended, or ``Pusher/shutdown(within:)`` (no error);
/// * the reader was too slow, and ``StreamBuffering`` says that this ends it;
/// * the reading task was cancelled (no error).
///
/// Elements that came earlier are read first. A stream counts until it and its iterators are gone; one that nobody reads holds the others
/// up, so let go of it, or give it an ``StreamBuffering/Overflow`` that drops. Several readers share the elements. May be used from any
/// thread.
public struct PusherStream<Element: Sendable>: AsyncSequence, Sendable {
    /// The error that a stream ends with.
    public typealias Failure = PusherError

    /// Reads a stream. All elements that wait are taken at once and handed out without suspending.
    public struct AsyncIterator: AsyncIteratorProtocol {
        // Inlined into the program, where the type of the element is known: an element costs nearly nothing there.
        @usableFromInline let cursor: StreamCursor<Element>

        init(_ reading: any StreamReading<Element>) {
            cursor = StreamCursor(reading)
        }

        /// The next element; nil when the stream has ended or the task is cancelled. Throws the reason why it ended, once.
        @inlinable
        public mutating func next() async throws(PusherError) -> Element? {
            if let element = cursor.next() { return element }
            return try await cursor.awaitNext(isolation: nil)
        }

        /// The next element, read on the actor that asks for it; nil when the stream has ended or the task is cancelled. Throws the reason
        /// why it ended, once.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PusherError) -> Element? {
            if let element = cursor.next() { return element }
            return try await cursor.awaitNext(isolation: actor)
        }
    }

    let source: any StreamReading<Element>

    /// The number of elements that were dropped because there was no room.
    public var dropped: Int { source.dropped }

    /// The next element, also when the task was cancelled: for what comes to an end by itself. For streams that drop the oldest, of which
    /// one element is taken at a time.
    func nextEvenIfCancelled() async -> Element? {
        var (batch, source) = await source.wait(evenIfCancelled: true)
        source?.change { $0.wasRead(batch.elements.count, bytes: batch.bytes) }
        return batch.elements.popFirst()
    }

    /// Ends the stream for its readers.
    func finish() {
        source.finish()
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
    ///
    /// While there is no connection no server can wait for a reader: a stream that is full ends then, or drops what comes next,
    /// as its overflow policy says, without the time that ``PusherClientOptions/pauseLimit`` gives.
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
        PusherStream(source: client.core.events(of: channel, number: number, buffering))
    }

    /// The channel's events of one name.
    public func events(named name: String, buffering: StreamBuffering = StreamBuffering()) -> PusherStream<PusherEvent> {
        PusherStream(source: client.core.events(of: channel, number: number, named: Name(name), buffering))
    }

    /// The data of the channel's events of one name, decoded as ``PusherEvent/decode(_:)`` does it.
    ///
    /// Data that can't be decoded is an element's failure: `try element.get()` ends the loop with it, a `switch` goes on.
    public func events<Value>(
        named name: String, as type: Value.Type, buffering: StreamBuffering = StreamBuffering()
    ) -> DecodedStream<Value> {
        DecodedStream(events: events(named: name, buffering: buffering))
    }

    /// All that happens to the channel: events, gaps, members who come and go, refusals.
    public var updates: PusherStream<ChannelUpdate> { updates(buffering: StreamBuffering()) }

    /// Returns this stream with a buffer of another size or another overflow policy; it tells of what was dropped.
    public func updates(buffering: StreamBuffering) -> PusherStream<ChannelUpdate> {
        PusherStream(source: client.core.updates(of: channel, number: number, buffering))
    }
}
