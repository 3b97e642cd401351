/// The steps of a pool's followed channels: as a ``FollowStream``, each with its channel.
///
/// A loop that is too slow for a connection doesn't end: the channels' states are loaded again.
public struct PoolFollowStream<State: Sendable>: AsyncSequence, Sendable {
    /// A step of one of the channels.
    public struct Element: Sendable {
        /// The channel's name, prefix included.
        public let channelName: String
        /// The state, an event, or a failure that is retried.
        public let step: FollowStep<State>
    }

    /// The error that a stream ends with.
    public typealias Failure = PusherError

    /// The iterator of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let stream: PoolFollowStream
        var position: FollowPosition<PoolUpdate, State>

        /// Returns the next step, or nil if the stream has ended or the task is cancelled. Throws the error that ended the
        /// stream, once.
        public mutating func next() async throws(PusherError) -> Element? {
            while true {
                do {
                    return try await position.nextStep().map { Element(channelName: $0.channel.text, step: $0.step) }
                } catch  where error.kind == .readerTooSlow {
                    position = FollowPosition(stream.renewed())
                }
            }
        }
    }

    /// The current follower, and what makes another one, for a source that ended because its reader was too slow.
    let follower: Locked<Follower<PoolUpdate, State>>
    let makeFollower: @Sendable () -> Follower<PoolUpdate, State>

    /// Loads the state of a channel again, as ``FollowStream/reload()`` does.
    ///
    /// - Parameter channelName: The channel's name, prefix included.
    public func reload(_ channelName: String) {
        follower.withLock(\.self).reload(Name(channelName))
    }

    private func renewed() -> Follower<PoolUpdate, State> {
        let renewed = makeFollower()
        follower.set(\.self, to: renewed)
        return renewed
    }

    /// Returns an iterator over the stream.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream: self, position: FollowPosition(follower.withLock(\.self)))
    }
}

extension PusherPool {
    /// Follows those of the channels that belong to this process, as
    /// ``Pusher/follow(_:auth:buffering:timeout:maximumAge:covers:loading:)`` follows one. States are loaded in the order in which
    /// the channels are subscribed; at most ``PusherClientOptions/concurrentLoads`` loads run at a time for the whole pool.
    ///
    /// - Parameters:
    ///   - channelNames: The channels' names, prefix included.
    ///   - timeout: The time that a load may take.
    ///   - maximumAge: The time after which a state is loaded again though nothing is known to be missing; nil for never.
    ///   - covers: Returns whether a state holds the effect of an event that came while it was loaded; such an event is skipped.
    ///   - load: Loads the state of the channel that it is given.
    public func follow<State: Sendable>(
        _ channelNames: some Sequence<String>, timeout: Duration = .seconds(30), maximumAge: Duration? = nil,
        covers: (@Sendable (State, PusherEvent) -> Bool)? = nil, loading load: @escaping @Sendable (String) async throws -> State
    ) -> PoolFollowStream<State> {
        let names = channelNames.filter(shard.has)
        let channel = { @Sendable [weak self] (name: Name) in self?.channel(named: name.text) }
        let makeFollower = { @Sendable [environment, loads] in
            let follower = Follower<PoolUpdate, State>(
                names.map { Name($0) }, self.updates.source,
                .init(
                    buffering: StreamBuffering(), timeout: timeout, maximumAge: maximumAge, covers: covers,
                    load: { try await load($0.text) }, split: { ($0.channel, $0.update) }),
                loads, LoadTelemetry(environment: environment) { channel($0)?.client.core })
            // No update will say that these are subscribed.
            for name in names where channel(Name(name))?.subscribed == true { follower.reload(Name(name), .first) }
            return follower
        }
        let stream = PoolFollowStream(follower: Locked(makeFollower()), makeFollower: makeFollower)
        subscribe(names)
        return stream
    }
}
