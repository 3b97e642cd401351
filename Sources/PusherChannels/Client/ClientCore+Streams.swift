/// Streams for the API's objects.
extension ClientCore {
    func events(_ buffering: StreamBuffering) -> StreamSource<PusherEvent> {
        make(\.events, for: .init(), buffering) { _, _, _, _ in }
    }

    func events(of channel: Name, number: Int, named event: Name? = nil, _ buffering: StreamBuffering) -> StreamSource<
        PusherEvent
    > {
        make(\.events, for: .init(channel: channel, event: event), buffering) { state, streams, id, _ in
            if case .ended(let failure) = Self.outcome(of: channel, number, state) { streams.events.finish(id, failure) }
        }
    }

    func updates(of channel: Name, number: Int, _ buffering: StreamBuffering) -> StreamSource<ChannelUpdate> {
        make(\.updates, for: .init(channel: channel), buffering) { state, streams, id, _ in
            streams.tellUnread(of: channel, to: id, state.machine.subscriptions[channel])
            if case .ended(let failure) = Self.outcome(of: channel, number, state) { streams.updates.finish(id, failure) }
        }
    }

    /// Requests a channel and makes the stream in one step, so the stream has the outcome even if the channel is subscribed
    /// already.
    func subscribe(
        _ channel: Name, auth: PusherAuth?, after position: StreamPosition? = nil, _ options: SubscriptionOptions? = nil,
        updates buffering: StreamBuffering
    ) -> StreamSource<ChannelUpdate> {
        make(\.updates, for: .init(channel: channel), buffering) { state, streams, id, now in
            streams.tellUnread(of: channel, to: id, state.machine.subscriptions[channel])
            _ = subscribe(channel, auth: auth, after: position, options, callbacks: ChannelCallbacks(), &state, at: now)
            guard state.machine.subscriptions[channel]?.isSubscribed == true else { return }
            streams.updates.change(id) { $0.append(.subscribed, at: now) }
        }
    }

    func poolUpdates(_ buffering: StreamBuffering) -> StreamSource<PoolUpdate> {
        make(\.poolUpdates, for: .init(), buffering) { state, streams, id, _ in
            guard let since = streams.poolUpdates.takeUnreadSince(of: nil) else { return }
            let channels = state.machine.subscriptions.inOrder(where: \.wasSubscribed).map(\.channel)
            streams.tellUnread(of: channels, toPoolStream: id, since: since)
        }
    }

    func states(_ buffering: StreamBuffering) -> StreamSource<ConnectionStateChange> {
        make(\.states, for: .init(), buffering) { _, _, _, _ in }
    }

    func poolStates(_ buffering: StreamBuffering) -> StreamSource<ConnectionStateChange> {
        make(\.poolStates, for: .init(), buffering) { _, _, _, _ in }
    }

    private func make<Element>(
        _ table: StreamSource<Element>.Table, for topic: StreamTable<Element>.Topic, _ buffering: StreamBuffering,
        then next: (inout State, inout Streams, Int, Instant) -> Void
    ) -> StreamSource<Element> {
        let id = change { state, now in
            readers.change { streams in
                let id = streams.makeNumber()
                streams.add(id, to: table, for: topic, buffering)
                next(&state, &streams, id, now)
                if streams[keyPath: table].tracksReading, topic.event == nil {
                    streams.begin(id, in: table, topic.channel, state.machine.subscriptions)
                }
                return id
            }
        }
        return StreamSource(self, id, in: table)
    }

    /// The outcome of a channel: more may come from it, or it has ended.
    enum StreamOutcome {
        case open
        case ended(PusherError?)
    }

    /// Returns the outcome for the handle whose listeners have this number. It is idle for good once the channel was given up,
    /// and nothing comes from a channel that was refused until it is requested again.
    static func outcome(of channel: Name, _ number: Int, _ state: State) -> StreamOutcome {
        guard state.listeners.channels[channel]?.number == number else { return .ended(nil) }
        guard let subscription = state.machine.subscriptions[channel] else { return .ended(state.machine.problem(of: channel)) }
        return subscription.state == .failed ? .ended(subscription.latestFailure) : .open
    }

    func removeStream<Element>(_ id: Int, from table: StreamSource<Element>.Table) {
        change { state, now in
            readers.change { streams in
                guard let (queue, topic) = streams[keyPath: table].remove(id) else { return }
                state.removed.append(queue)
                if let places = queue.places {
                    streams.left.add(places) { state.machine.isShutDown || state.machine.subscriptions[$0] != nil }
                }
                // A channel that is given up begins anew.
                if let channel = topic.channel, state.machine.subscriptions[channel] == nil { return }
                streams.noteUnread(queue, of: topic.channel, in: table, at: now)
            }
        }
    }

    /// The places up to which the streams' readers took the channels' events, and those that wait for their channel's first request.
    var positions: [Name: StreamPosition] {
        readState { state in
            let read = readers.change { $0.readPlaces }.places.compactMapValues(\.position)
            return state.machine.storedPositions.merging(read) { $1 }
        }
    }

    /// Ends streams and waits once everything that will be read was read: when a client's run has ended, or the client itself
    /// (`forGood`).
    func finishStreams(forGood: Bool) {
        change { state in
            readers.change { forGood ? $0.shutDown() : $0.finish() }
            if forGood { state.waits.runs.endAll() }
            state.waits.subscriptions.endAll(forGood ? .clientShutDown : .clientDisconnected)
        }
    }

    func makeID() -> Int {
        change { $0.listeners.makeID() }
    }
}
