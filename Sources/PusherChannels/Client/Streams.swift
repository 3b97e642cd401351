/// The streams of a client.
struct Streams: Sendable {
    var events = StreamTable<PusherEvent> { $0.envelope.size }
    // Those are small: their number bounds them.
    var states = StreamTable<ConnectionStateChange> { _ in 0 }
    var members = StreamTable<PresenceChange> { _ in 0 }
    private var isFinished = false

    var isEmpty: Bool { events.isEmpty && states.isEmpty && members.isEmpty }

    /// The number of streams the server has to wait for.
    var over: Int { events.over + states.over + members.over }

    /// Makes a stream; it is at its end where the client is.
    mutating func add<Element>(
        _ id: Int, to table: WritableKeyPath<Streams, StreamTable<Element>>, for topic: StreamTable<Element>.Topic,
        _ buffering: StreamBuffering
    ) {
        self[keyPath: table].add(id, for: topic, buffering)
        if isFinished { self[keyPath: table].finish(id) }
    }

    /// Gives each stream what it is for; tells whether one has it.
    mutating func append(_ delivery: Delivery, _ decoder: EventDecoder?) -> Bool {
        switch delivery {
        case .event(let envelope), .userEvent(let envelope):
            guard !events.isEmpty else { return false }
            return events.append(PusherEvent(envelope: envelope, decoder: decoder), of: envelope.channel, envelope.event)
        case .stateChanged(let old, let new, let reason):
            return states.append(ConnectionStateChange(old: old, new: new, reason: reason), of: nil)
        case .memberAdded(let channel, let member):
            return members.append(.joined(PusherPresenceChannelMember(member)), of: channel)
        case .memberRemoved(let channel, let member):
            return members.append(.left(PusherPresenceChannelMember(member)), of: channel)
        default:
            return false
        }
    }

    mutating func pauseLimitReached() {
        events.pauseLimitReached()
        states.pauseLimitReached()
        members.pauseLimitReached()
    }

    /// No more will come.
    mutating func finish() {
        isFinished = true
        events.finish()
        states.finish()
        members.finish()
    }

    /// Returns the closures that resume the readers that waited and have something to read now.
    mutating func wakeUps() -> [() -> Void] {
        events.wakeUps() + states.wakeUps() + members.wakeUps()
    }
}

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
