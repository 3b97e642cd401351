/// What waits on the application's delivery queue: past the limit the server has to wait, and past the time for that, events are
/// dropped until half of it is free again.
final class DeliveryBacklog: Consumer {
    private struct State {
        var waiting = 0
        var pace = Pace.keepingUp
        var dropped = 0
        /// The channels that lost events, and since when.
        var losses: [String: MonotonicTime] = [:]
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    var isBehind: Bool { state.withLock { $0.pace == .behind } }
    var dropped: Int { state.withLock { $0.dropped } }

    func pauseLimitReached() {
        state.withLock { state in
            if state.pace == .behind { state.pace = .dropping }
        }
    }

    /// Takes in what is about to wait; gives back what there is room for, how many deliveries that is, and whether the queue is
    /// behind now and was not before.
    func admit(_ effects: [Effect], at now: MonotonicTime) -> (admitted: [Effect], count: Int, isNews: Bool) {
        state.withLock { state in
            let admitted = state.pace == .dropping ? effects.filter { !drop($0, at: now, &state) } : effects
            let count = admitted.count(where: \.isDelivery)
            state.waiting += count
            guard state.pace == .keepingUp, state.waiting >= limit else { return (admitted, count, false) }
            state.pace = .behind
            return (admitted, count, true)
        }
    }

    /// Events can be missed, as on any bad connection; news about the connection and its channels can not.
    private func drop(_ effect: Effect, at now: MonotonicTime, _ state: inout State) -> Bool {
        guard let envelope = effect.event, !envelope.event.begins(with: "pusher:") else { return false }
        state.dropped += 1
        if let channel = envelope.channel, state.losses[channel] == nil { state.losses[channel] = now }
        return true
    }

    /// So many were delivered; gives back whether the queue has caught up, and who lost what meanwhile.
    func delivered(_ count: Int) -> (hasCaughtUp: Bool, losses: [String: MonotonicTime]) {
        state.withLock { state in
            state.waiting -= count
            guard state.pace != .keepingUp, state.waiting <= limit / 2 else { return (false, [:]) }
            defer { state.losses = [:] }
            state.pace = .keepingUp
            return (true, state.losses)
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
