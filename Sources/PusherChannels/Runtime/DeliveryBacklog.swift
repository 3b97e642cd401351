/// What waits on the application's delivery queue: past the limit the server has to wait, and past the time for that, events are
/// dropped until half of it is free again.
final class DeliveryBacklog: Consumer {
    private struct State {
        var waiting = 0
        var pace = Pace.keepingUp
        var dropped = 0
        /// What isn't dropped may grow to this before the server has to wait again.
        var nextLimit: Int
        /// Where what is dropped begins.
        var heardUpTo = MonotonicTime.zero
        /// The channels that lost events.
        var losses: Set<String> = []
    }

    private let limit: Int
    private let state: Locked<State>

    init(limit: Int) {
        self.limit = max(limit, 1)
        state = Locked(State(nextLimit: self.limit))
    }

    var isBehind: Bool { state.withLock { $0.pace == .behind } }
    var dropped: Int { state.withLock { $0.dropped } }

    func pauseLimitReached(heardUpTo time: MonotonicTime) {
        state.withLock { state in
            guard state.pace == .behind else { return }
            state.pace = .dropping
            state.nextLimit = state.waiting + limit
            if state.losses.isEmpty { state.heardUpTo = time }
        }
    }

    /// Takes in what is about to wait; gives back what there is room for, how many deliveries that is, and whether the queue is
    /// behind now and was not before.
    func admit(_ effects: [Effect]) -> (admitted: [Effect], count: Int, isNews: Bool) {
        state.withLock { state in
            let admitted = state.pace == .dropping ? effects.filter { !drop($0, &state) } : effects
            let count = admitted.count(where: \.isDelivery)
            return (admitted, count, append(count, to: &state))
        }
    }

    /// The same for a line that only informs, which can be missed like an event; nil if there is no room.
    func admitLine() -> Bool? {
        state.withLock { state in state.pace == .dropping ? nil : append(1, to: &state) }
    }

    /// Tells whether the queue is behind now and was not before.
    private func append(_ count: Int, to state: inout State) -> Bool {
        state.waiting += count
        guard state.pace != .behind, state.waiting >= state.nextLimit else { return false }
        state.pace = .behind
        return true
    }

    /// Events can be missed, as on any bad connection; news about the connection and its channels can not.
    private func drop(_ effect: Effect, _ state: inout State) -> Bool {
        guard let envelope = effect.event, !envelope.event.begins(with: "pusher:") else { return false }
        state.dropped += 1
        if let channel = envelope.channel { state.losses.insert(channel) }
        return true
    }

    /// So many were delivered; gives back whether the queue has caught up, which channels lost events meanwhile, and since when.
    func delivered(_ count: Int) -> (hasCaughtUp: Bool, losses: Set<String>, since: MonotonicTime) {
        state.withLock { state in
            state.waiting -= count
            guard state.pace != .keepingUp, state.waiting <= limit / 2 else { return (false, [], state.heardUpTo) }
            defer { state.losses = [] }
            state.pace = .keepingUp
            state.nextLimit = limit
            return (true, state.losses, state.heardUpTo)
        }
    }
}

extension Effect {
    fileprivate var isDelivery: Bool {
        if case .deliver = self { true } else { false }
    }

    fileprivate var event: Envelope? {
        switch self {
        case .deliver(.event(let envelope)), .deliver(.userEvent(let envelope)): envelope
        default: nil
        }
    }
}
