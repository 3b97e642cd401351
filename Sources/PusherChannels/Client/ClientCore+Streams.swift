extension ClientCore {
    func events(of channel: Name? = nil, named event: Name? = nil, _ buffering: StreamBuffering) -> StreamSource<PusherEvent> {
        make(\.events, for: .init(channel: channel, event: event), buffering)
    }

    func states(_ buffering: StreamBuffering) -> StreamSource<ConnectionStateChange> {
        make(\.states, for: .init(), buffering)
    }

    func members(of channel: Name, _ buffering: StreamBuffering) -> StreamSource<PresenceChange> {
        make(\.members, for: .init(channel: channel), buffering)
    }

    private func make<Element>(
        _ table: StreamSource<Element>.Table, for topic: StreamTable<Element>.Topic,
        _ buffering: StreamBuffering
    ) -> StreamSource<Element> {
        let id = makeID()
        change { $0.streams.add(id, to: table, for: topic, buffering) }
        return StreamSource(self, id, in: table)
    }

    func removeStream<Element>(_ id: Int, from table: StreamSource<Element>.Table) {
        change { state in
            if let queue = state.streams[keyPath: table].remove(id) { state.removed.append(queue) }
        }
    }

    /// No stream gets more.
    func finishStreams() {
        change { $0.streams.finish() }
    }

    func makeID() -> Int {
        change { $0.listeners.makeID() }
    }
}
