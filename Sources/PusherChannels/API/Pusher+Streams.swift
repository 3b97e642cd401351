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
