/// The steps of a pool's followed channels: as a ``FollowStream``, each with its channel.
///
/// A loop that is too slow for a connection doesn't end: the channels' states are loaded again.
public struct PoolFollowStream<State: Sendable>: AsyncSequence, Sendable {
    /// A step of one of the channels.
    public struct Element: Sendable {
        /// The channel's name, prefix included.
        public let channelName: String
        /// The state, an event, or a failure.
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
    let makeFollower: @Sendable (Follower<PoolUpdate, State>?) -> Follower<PoolUpdate, State>

    /// Loads the state of a channel again, as ``FollowStream/reload()`` does.
    ///
    /// - Parameter channelName: The channel's name, prefix included.
    public func reload(_ channelName: String) {
        follower.withLock(\.self).reload(Name(channelName))
    }

    private func renewed() -> Follower<PoolUpdate, State> {
        let renewed = makeFollower(follower.withLock(\.self))
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
    ///   - maximumAge: The time after which a state is loaded again though nothing is known to be missing, at least a second;
    ///     nil for never.
    ///   - covers: Returns whether a state holds the effect of an event that came while it was loaded; such an event is skipped.
    ///   - load: Loads the state of the channel that it is given.
    public func follow<State: Sendable>(
        _ channelNames: some Sequence<String>, timeout: Duration = .seconds(30), maximumAge: Duration? = nil,
        covers: (@Sendable (State, PusherEvent) -> Bool)? = nil, loading load: @escaping @Sendable (String) async throws -> State
    ) -> PoolFollowStream<State> {
        let names = channelNames.filter(shard.has)
        let channel = { @Sendable [weak self] (name: String) in self?.channel(named: name) }
        let make = { @Sendable [weak self, environment, loads] (earlier: Follower<PoolUpdate, State>?) in
            let reading = PoolReading()
            let follower = Follower<PoolUpdate, State>(
                names.map { Name($0) }, after: earlier, reading,
                .init(
                    buffering: StreamBuffering(), timeout: timeout, maximumAge: maximumAge, covers: covers,
                    load: { try await load($0.text) }, split: { ($0.channel, $0.update) }),
                loads, LoadTelemetry(environment: environment) { channel($0.text)?.client.core })
            let now = environment.date(environment.scheduler.now)
            // Once the reading is attached: no update will say that these are subscribed, or what an earlier reading missed.
            guard let self else {
                follower.end(nil)
                return follower
            }
            change {
                $0.steps.append(.follow(reading))
                $0.steps.append(
                    .then { [weak follower] in
                        for name in names where channel(name)?.subscribed == true {
                            let reason = earlier == nil ? LoadReason.first : .gap(EventGap(since: now, reason: .overflow))
                            follower?.reload(Name(name), reason)
                        }
                    })
            }
            return follower
        }
        let stream = PoolFollowStream(follower: Locked(make(nil)), makeFollower: make)
        subscribe(names)
        return stream
    }
}
