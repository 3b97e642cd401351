/// The streams that applications read; each gets what it is for, at once and on the thread that brought it.
final class EventStreams: Sendable {
    private struct Entry<Element: Sendable>: WeakEntry, Sendable {
        weak var object: StreamBuffer<Element>?
        let isFor: @Sendable (Element) -> Bool
    }

    private struct State: Sendable {
        var events: [Entry<PusherEvent>] = []
        var states: [Entry<ConnectionStateChange>] = []
        private(set) var members: [String: [Entry<PresenceChange>]] = [:]

        /// Nothing is kept of a channel whose streams are gone: an application may have one for each of its calls or orders.
        subscript(membersOf channel: String) -> [Entry<PresenceChange>] {
            get { members[channel] ?? [] }
            set { members[channel] = newValue.isEmpty ? nil : newValue }
        }
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
        make(buffering, in: \.events, where: isFor)
    }

    func states(_ buffering: StreamBuffering) -> PusherStream<ConnectionStateChange> {
        make(buffering, in: \.states)
    }

    func members(of channel: String, _ buffering: StreamBuffering) -> PusherStream<PresenceChange> {
        make(buffering, in: \.[membersOf: channel])
    }

    private func make<Element>(
        _ buffering: StreamBuffering, in entries: any WritableKeyPath<State, [Entry<Element>]> & Sendable,
        where isFor: @escaping @Sendable (Element) -> Bool = { _ in true }
    ) -> PusherStream<Element> {
        let buffer = StreamBuffer<Element>(
            buffering, changed: { [weak self] in self?.consumersChanged() },
            ended: { [weak self] in self?.state.letGo { $0[keyPath: entries].removeGone() } })
        consumers.add(buffer)
        state.withLock { $0[keyPath: entries].append(Entry(object: buffer, isFor: isFor)) }
        return PusherStream(buffer: buffer)
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
        for entry in state.withLock({ $0[membersOf: channel] }) { entry.object?.send(change) }
    }

    /// No more will come.
    func finish() {
        let state = state.withLock { $0 }
        for entry in state.events { entry.object?.finish() }
        for entry in state.states { entry.object?.finish() }
        for entry in state.members.values.joined() { entry.object?.finish() }
        consumersChanged()
    }
}
