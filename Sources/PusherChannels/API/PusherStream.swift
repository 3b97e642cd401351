/// An asynchronous sequence of events or changes on a connection.
///
/// A stream begins when it is created, and buffers elements until they are read. It ends when no more elements can come, and
/// throws the ``PusherError`` that is the reason, if there is one:
///
/// * the client gave up, for example because of an unknown application key or too many failed attempts;
/// * the channel was refused and a retry can't help, or it was unsubscribed (no error);
/// * ``Pusher/run()`` or ``Pusher/shutdown(within:)`` has ended (no error);
/// * the reader was too slow, and the ``StreamBuffering`` policy ends the stream in that case;
/// * the reading task was cancelled (no error).
///
/// Elements that came earlier are read first. A stream is active until it and its iterators are released. A stream that nobody
/// reads holds up the others, so release it, or give it an ``StreamBuffering/Overflow`` that drops. Several readers share the
/// elements. A stream may be used from any thread.
public struct PusherStream<Element: Sendable>: AsyncSequence, Sendable {
    /// The error that a stream ends with.
    public typealias Failure = PusherError

    /// The iterator of a stream. It takes all waiting elements at once and returns them without suspending.
    public struct AsyncIterator: AsyncIteratorProtocol {
        // Inlined into the program, where the element's type is known: there, an element costs nearly nothing.
        @usableFromInline let cursor: StreamCursor<Element>

        init(_ reading: any StreamReading<Element>) {
            cursor = StreamCursor(reading)
        }

        /// Returns the next element, or nil if the stream has ended or the task is cancelled. Throws the error that ended the
        /// stream, once.
        @inlinable
        public mutating func next() async throws(PusherError) -> Element? {
            if let element = cursor.next() { return element }
            return try await cursor.awaitNext(isolation: nil)
        }

        /// Returns the next element, read on the given actor, or nil if the stream has ended or the task is cancelled. Throws the
        /// error that ended the stream, once.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PusherError) -> Element? {
            if let element = cursor.next() { return element }
            return try await cursor.awaitNext(isolation: actor)
        }
    }

    let source: any StreamReading<Element>

    /// The number of elements that were dropped because the buffer was full.
    public var dropped: Int { source.dropped }

    /// Returns the next element even if the task was cancelled, for streams that end by themselves. Only for streams that drop
    /// the oldest element, because from these one element is taken at a time.
    func nextEvenIfCancelled() async -> Element? {
        let number = source.makeReaderNumber()
        var (batch, source) = await withCheckedContinuation { (reader: CheckedContinuation<Portion<Element>, Never>) in
            self.source.ask(number) { reader.resume(returning: $0) }
        }
        source?.change { $0.wasRead(batch.elements, bytes: batch.bytes) }
        return batch.elements.popFirst()
    }

    /// Ends the stream for its readers.
    func finish() {
        source.finish()
    }

    /// Returns an iterator over the stream.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source)
    }
}

extension PusherStream {
    /// The writing end of a stream made by ``makeStream(of:)``. It may be used from any thread.
    public struct Continuation: Sendable {
        fileprivate let source: StreamByHand<Element>

        /// Adds an element for the readers.
        public func yield(_ element: Element) { source.change { $0.append(element, at: .origin) } }

        /// Ends the stream once its elements were read, with an error if there is one.
        public func finish(throwing error: PusherError? = nil) { source.change { $0.finish(error) } }
    }

    /// Makes a stream whose elements come from you, for a fake of your own in the place of a client. It keeps all of them until
    /// they are read.
    public static func makeStream(of type: Element.Type = Element.self) -> (stream: PusherStream, continuation: Continuation) {
        let source = StreamByHand<Element>()
        return (PusherStream(source: source), Continuation(source: source))
    }
}

extension Pusher {
    /// All events: those of every channel, and those without a channel.
    public var events: PusherStream<PusherEvent> { events(buffering: StreamBuffering()) }

    /// Returns such a stream with a different buffer size or overflow policy.
    public func events(buffering: StreamBuffering) -> PusherStream<PusherEvent> {
        PusherStream(source: connection.core.events(buffering))
    }

    /// The changes of the connection's state, with their reasons.
    ///
    /// Without a connection, no server can wait for a reader: a full stream then ends, or drops elements, as its overflow policy
    /// says, without waiting for ``PusherClientOptions/pauseLimit``.
    public var connectionStates: PusherStream<ConnectionStateChange> { connectionStates(buffering: StreamBuffering()) }

    /// Returns such a stream with a different buffer size or overflow policy.
    public func connectionStates(buffering: StreamBuffering) -> PusherStream<ConnectionStateChange> {
        PusherStream(source: connection.core.states(buffering))
    }
}

extension PusherChannel {
    /// All events of the channel, including the protocol's own under their public names.
    public var events: PusherStream<PusherEvent> { events(buffering: StreamBuffering()) }

    /// Returns such a stream with a different buffer size or overflow policy.
    public func events(buffering: StreamBuffering) -> PusherStream<PusherEvent> {
        PusherStream(source: client.core.events(of: channel, number: number, buffering))
    }

    /// Returns the channel's events of one name.
    public func events(named name: String, buffering: StreamBuffering = StreamBuffering()) -> PusherStream<PusherEvent> {
        PusherStream(source: client.core.events(of: channel, number: number, named: Name(name), buffering))
    }

    /// Returns the data of the channel's events of one name, decoded as by ``PusherEvent/decode(_:)``.
    ///
    /// An element whose data can't be decoded is a failure: `try element.get()` ends the loop with it, a `switch` continues.
    public func events<Value>(
        named name: String, as type: Value.Type, buffering: StreamBuffering = StreamBuffering()
    ) -> DecodedStream<Value> {
        DecodedStream(events: events(named: name, buffering: buffering))
    }

    /// All updates of the channel: events, gaps, members who join and leave, and refused subscriptions.
    public var updates: PusherStream<ChannelUpdate> { updates(buffering: StreamBuffering()) }

    /// Returns such a stream with a different buffer size or overflow policy. It reports dropped updates as a gap.
    public func updates(buffering: StreamBuffering) -> PusherStream<ChannelUpdate> {
        PusherStream(source: client.core.updates(of: channel, number: number, buffering))
    }
}
