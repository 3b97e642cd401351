/// Streams, as the API's objects make them.
extension ClientCore {
    func events(_ buffering: StreamBuffering) -> StreamSource<PusherEvent> {
        make(\.events, for: .init(), buffering) { _, _, _ in }
    }

    func events(of channel: Name, number: Int, named event: Name? = nil, _ buffering: StreamBuffering) -> StreamSource<
        PusherEvent
    > {
        make(\.events, for: .init(channel: channel, event: event), buffering) { state, id, _ in
            if case .ended(let failure) = Self.outlook(of: channel, number, state) { state.streams.events.finish(id, failure) }
        }
    }

    func updates(of channel: Name, number: Int, _ buffering: StreamBuffering) -> StreamSource<ChannelUpdate> {
        make(\.updates, for: .init(channel: channel), buffering) { state, id, _ in
            if case .ended(let failure) = Self.outlook(of: channel, number, state) { state.streams.updates.finish(id, failure) }
        }
    }

    /// Asks for a channel, and makes the stream in the same step: what comes of the wish is in it, also where it has come true already.
    func subscribe(_ channel: Name, auth: PusherAuth?, updates buffering: StreamBuffering) -> StreamSource<ChannelUpdate> {
        make(\.updates, for: .init(channel: channel), buffering) { state, id, now in
            _ = subscribe(channel, auth: auth, callbacks: ChannelCallbacks(), &state, at: now)
            guard state.machine.subscriptions[channel]?.isSubscribed == true else { return }
            state.streams.updates.change(id) { $0.append(.subscribed, at: now) }
        }
    }

    func poolUpdates(_ buffering: StreamBuffering) -> StreamSource<PoolUpdate> {
        make(\.poolUpdates, for: .init(), buffering) { _, _, _ in }
    }

    func states(_ buffering: StreamBuffering) -> StreamSource<ConnectionStateChange> {
        make(\.states, for: .init(), buffering) { _, _, _ in }
    }

    func poolStates(_ buffering: StreamBuffering) -> StreamSource<ConnectionStateChange> {
        make(\.poolStates, for: .init(), buffering) { _, _, _ in }
    }

    private func make<Element>(
        _ table: StreamSource<Element>.Table, for topic: StreamTable<Element>.Topic, _ buffering: StreamBuffering,
        then next: (inout State, Int, Instant) -> Void
    ) -> StreamSource<Element> {
        let id = makeID()
        change { state, now in
            state.streams.add(id, to: table, for: topic, buffering)
            next(&state, id, now)
        }
        return StreamSource(self, id, in: table)
    }

    /// Tells whether something may yet come of a channel.
    enum Outlook {
        case open
        case ended(PusherError?)
    }

    /// The outlook for the handle with this number of listeners: it is idle for good once the channel was given up, and nothing comes of a
    /// channel that was refused before it is asked for again.
    static func outlook(of channel: Name, _ number: Int, _ state: State) -> Outlook {
        guard state.listeners.channels[channel]?.number == number else { return .ended(nil) }
        guard let subscription = state.machine.subscriptions[channel] else { return .ended(state.machine.problem(of: channel)) }
        return subscription.state == .failed ? .ended(subscription.latestFailure) : .open
    }

    func removeStream<Element>(_ id: Int, from table: StreamSource<Element>.Table) {
        change { state in
            if let queue = state.streams[keyPath: table].remove(id) { state.removed.append(queue) }
        }
    }

    func finishStreams(forGood: Bool) {
        change { $0.finishStreams(forGood: forGood) }
    }

    func makeID() -> Int {
        change { $0.listeners.makeID() }
    }
}

extension ClientCore.State {
    /// All that came was read, as far as anybody will read it: the client's life is over, or its last.
    mutating func finishStreams(forGood: Bool) {
        if forGood {
            streams.shutDown()
            runs.endAll()
        } else {
            streams.finish()
        }
        waits.endAll(forGood ? .clientShutDown : .clientDisconnected)
    }
}
