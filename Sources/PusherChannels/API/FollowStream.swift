/// The steps by which an application's copy of a channel's state stays equal to its server's: the state, the events since then,
/// and the state again whenever events may be missing. ``Pusher/follow(_:auth:buffering:timeout:maximumAge:covers:loading:)`` makes it.
///
/// It ends as a ``PusherStream`` does. One loop reads it, once; for another one, call `follow` again. Releasing or cancelling the
/// loop cancels the load that is under way.
public struct FollowStream<State: Sendable>: AsyncSequence, Sendable {
    /// The state, an event, or a failure that is retried.
    public typealias Element = FollowStep<State>

    /// The error that a stream ends with.
    public typealias Failure = PusherError

    /// The iterator of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        // Inlined into the program: an event of a channel whose state is up to date costs as much as one of a `PusherStream`.
        @usableFromInline let position: FollowPosition<ChannelUpdate, State>
        @usableFromInline var isLive = false

        init(_ follower: Follower<ChannelUpdate, State>) {
            position = FollowPosition(follower)
        }

        /// Returns the next step, or nil if the stream has ended or the task is cancelled. Throws the error that ended the
        /// stream, once.
        @inlinable
        public mutating func next() async throws(PusherError) -> FollowStep<State>? { try await next(isolation: nil) }

        /// Returns the next step, read on the given actor, or nil if the stream has ended or the task is cancelled. Throws the
        /// error that ended the stream, once.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PusherError) -> FollowStep<State>? {
            let update = isLive ? position.cursor.next() : nil
            if case .event(let event)? = update { return .event(event) }
            let step = try await position.next(after: update, isolation: actor)
            isLive = position.isLive
            return step
        }
    }

    let follower: Follower<ChannelUpdate, State>

    /// Loads the state again, for example after the store failed. What the loop took before comes first: no more than a buffer
    /// holds. Does nothing while a load waits to begin. A load that is under way is followed by another one.
    public func reload() {
        for channel in follower.channels { follower.reload(channel) }
    }

    /// Returns an iterator over the stream.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(follower)
    }
}

/// A step of a followed channel whose events are decoded.
public enum DecodedFollowStep<State: Sendable, Event: Sendable>: Sendable {
    /// The state, as in ``FollowStep/state(_:_:)``.
    case state(State, LoadReason)
    /// An event, and its data or the error that decoding it threw.
    case event(PusherEvent, Result<Event, any Error>)
    /// A failure that is retried, as in ``FollowStep/failed(_:)``.
    case failed(any Error)
}

/// A ``FollowStream`` with decoded events.
public struct DecodedFollowStream<State: Sendable, Event: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The state, a decoded event, or a failure that is retried.
    public typealias Element = DecodedFollowStep<State, Event>

    /// The error that a stream ends with.
    public typealias Failure = PusherError

    /// The iterator of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline var steps: FollowStream<State>.AsyncIterator

        /// Returns the next step, or nil if the stream has ended or the task is cancelled. Throws the error that ended the
        /// stream, once.
        @inlinable
        public mutating func next() async throws(PusherError) -> Element? {
            switch try await steps.next() {
            case .state(let state, let reason): .state(state, reason)
            case .event(let event): .event(event, Result { try event.decode(Event.self) })
            case .failed(let error): .failed(error)
            case nil: nil
            }
        }
    }

    let steps: FollowStream<State>

    /// Loads the state again, as ``FollowStream/reload()`` does.
    public func reload() { steps.reload() }

    /// Returns an iterator over the stream.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(steps: steps.makeAsyncIterator()) }
}

extension Pusher {
    /// Keeps a copy of a channel's state equal to the server's, on any server: subscribes to the channel, has the application
    /// load the state, and gives the state, then the events since.
    ///
    /// ```swift
    /// let orders = pusher.follow("private-orders") { try await api.orders() }
    /// for try await step in orders {
    ///     switch step {
    ///     case .state(let all, _): store.replace(all)
    ///     case .event(let event): store.apply(event)
    ///     case .failed(let error): log(error)
    ///     }
    /// }
    /// ```
    ///
    /// The load begins after the subscription has succeeded, and again whenever events may be missing: after a reconnect, if the
    /// loop was too slow, if an event could not be decrypted. Events that come during a load are held and follow the state; this
    /// never makes the server wait. If more come than `buffering` or 16 MiB for all channels of the client can hold, they are
    /// dropped and the state is loaded once more.
    ///
    /// **What is promised:** if the backend commits before it publishes, and the loader reads what is committed (from no cache
    /// and no replica that lags), then the copy equals the server's state once the held events are applied, until the next gap.
    /// Held events, and others that come soon after a state, may be older than it: apply events so that twice does no harm, or
    /// compare a version. `covers` skips held ones.
    /// Nobody can see from here that a publish excluded this connection, or that one was lost on its way to the server; for
    /// these, and for a store that failed, there are `maximumAge` and ``FollowStream/reload()``.
    ///
    /// A load that fails is told and tried again, with growing delays of up to a minute, and never given up. Loads that follow
    /// each other within a minute are spaced in the same way, except those for `maximumAge`. At most
    /// ``PusherClientOptions/concurrentLoads`` run at a time. Members who join and leave are not told; see
    /// ``updates(of:auth:rewind:filter:buffering:)``.
    ///
    /// - Parameters:
    ///   - channelName: The channel's name, prefix included.
    ///   - auth: An authorization to use once, instead of requesting one.
    ///   - buffering: The limits for events that wait for the loop, or for a load. If the policy drops events, the state is
    ///     loaded again.
    ///   - timeout: The time that a load may take.
    ///   - maximumAge: The time after which the state is loaded again though nothing is known to be missing, at least a second;
    ///     nil for never.
    ///   - covers: Returns whether a state holds the effect of an event that came while it was loaded; such an event is skipped.
    ///   - load: Loads the state from the application's own API. It is called as a task of its own, which is cancelled with the
    ///     loop and after `timeout`, and should end then: another load begins in its place. Its task-local values may be those of
    ///     any code, not the loop's.
    public func follow<State: Sendable>(
        _ channelName: String, auth: PusherAuth? = nil,
        buffering: StreamBuffering = StreamBuffering(overflow: .pauseThenDrop), timeout: Duration = .seconds(30),
        maximumAge: Duration? = nil, covers: (@Sendable (State, PusherEvent) -> Bool)? = nil,
        loading load: @escaping @Sendable () async throws -> State
    ) -> FollowStream<State> {
        let (core, channel) = (connection.core, Name(channelName))
        // Which elements are dropped makes no difference, as the state is loaded again, and the newest cost less to drop.
        var buffering = buffering
        if buffering.overflow == .dropOldest { buffering.overflow = .dropNewest }
        return FollowStream(
            follower: Follower(
                [channel], core.subscribe(channel, auth: auth, updates: buffering),
                .init(
                    buffering: buffering, timeout: timeout, maximumAge: maximumAge, covers: covers,
                    load: { _ in try await load() },
                    split: { (channel, $0) }),
                loads, LoadTelemetry(environment: core.environment) { [weak core] _ in core }))
    }

    /// Follows a channel as ``follow(_:auth:buffering:timeout:maximumAge:covers:loading:)`` does, and decodes its events' data.
    /// An event that can't be decoded doesn't end the loop.
    ///
    /// - Parameters:
    ///   - channelName: The channel's name, prefix included.
    ///   - type: The type of the events' data, as for ``PusherEvent/decode(_:)``.
    ///   - maximumAge: The time after which the state is loaded again; nil for never.
    ///   - covers: Returns whether a state holds the effect of an event that came while it was loaded; such an event is skipped.
    ///   - load: Loads the state from the application's own API.
    public func follow<State: Sendable, Event: Decodable & Sendable>(
        _ channelName: String, decoding type: Event.Type, maximumAge: Duration? = nil,
        covers: (@Sendable (State, PusherEvent) -> Bool)? = nil, loading load: @escaping @Sendable () async throws -> State
    ) -> DecodedFollowStream<State, Event> {
        DecodedFollowStream(steps: follow(channelName, maximumAge: maximumAge, covers: covers, loading: load))
    }
}
