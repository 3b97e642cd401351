/// The streams that applications read; each gets what it is for, at once and on the thread that brought it.
final class EventStreams: Sendable {
    private struct Entry<Element: Sendable>: WeakEntry, Sendable {
        weak var object: StreamBuffer<Element>?
        let isFor: @Sendable (Element) -> Bool
    }

    private struct State: Sendable {
        var events: [Entry<PusherEvent>] = []
        var states: [Entry<ConnectionStateChange>] = []
        var members: [String: [Entry<PresenceChange>]] = [:]
    }

    let consumers = Consumers()
    private let state = Locked(State())
    private let whenChanged = Locked<@Sendable () -> Void>({})

    /// Called when one of the consumers may have got behind or caught up.
    func onConsumersChanged(_ body: @escaping @Sendable () -> Void) {
        whenChanged.withLock { $0 = body }
    }

    /// One of the consumers has got behind or caught up.
    func consumersChanged() {
        whenChanged.withLock { $0 }()
    }

    // MARK: Making streams

    func events(_ buffering: StreamBuffering, where isFor: @escaping @Sendable (PusherEvent) -> Bool) -> PusherStream<PusherEvent>
    {
        let buffer = makeBuffer(PusherEvent.self, buffering)
        state.letGo { Self.add(Entry(object: buffer, isFor: isFor), to: &$0.events) }
        return PusherStream(buffer: buffer)
    }

    func states(_ buffering: StreamBuffering) -> PusherStream<ConnectionStateChange> {
        let buffer = makeBuffer(ConnectionStateChange.self, buffering)
        state.letGo { Self.add(Entry(object: buffer, isFor: { _ in true }), to: &$0.states) }
        return PusherStream(buffer: buffer)
    }

    func members(of channel: String, _ buffering: StreamBuffering) -> PusherStream<PresenceChange> {
        let buffer = makeBuffer(PresenceChange.self, buffering)
        state.letGo { Self.add(Entry(object: buffer, isFor: { _ in true }), to: &$0.members[channel, default: []]) }
        return PusherStream(buffer: buffer)
    }

    private func makeBuffer<Element>(_ type: Element.Type, _ buffering: StreamBuffering) -> StreamBuffer<Element> {
        let buffer = StreamBuffer<Element>(buffering) { [weak self] in self?.consumersChanged() }
        consumers.add(buffer)
        return buffer
    }

    private static func add<Element>(_ entry: Entry<Element>, to entries: inout [Entry<Element>]) -> [StreamBuffer<Element>] {
        defer { entries.append(entry) }
        return entries.removeGone()
    }

    // MARK: Feeding them

    /// Whether somebody has made a stream.
    var areThere: Bool { state.withLock { !$0.events.isEmpty || !$0.states.isEmpty || !$0.members.isEmpty } }

    func send(_ event: PusherEvent) {
        for entry in state.withLock({ $0.events }) where entry.isFor(event) { entry.object?.send(event) }
    }

    func send(_ change: ConnectionStateChange) {
        for entry in state.withLock({ $0.states }) { entry.object?.send(change) }
    }

    func send(_ change: PresenceChange, of channel: String) {
        for entry in state.withLock({ $0.members[channel] ?? [] }) { entry.object?.send(change) }
    }

    /// No more will come.
    func finish() {
        let state = state.withLock { $0 }
        for entry in state.events { entry.object?.finish() }
        for entry in state.states { entry.object?.finish() }
        for entry in state.members.values.joined() { entry.object?.finish() }
    }
}
