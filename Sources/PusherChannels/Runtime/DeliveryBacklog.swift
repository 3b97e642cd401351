/// What waits on the application's delivery queue: past the limit the server has to wait, and past the time for that, events are
/// dropped until half of it is free again.
final class DeliveryBacklog: Consumer {
    private struct State {
        var waiting = 0
        var isBehind = false
        var isDropping = false
        var dropped = 0
        /// The channels that lost events, and since when.
        var losses: [String: MonotonicTime] = [:]
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    var isBehind: Bool { state.withLock { $0.isBehind } }
    var dropped: Int { state.withLock { $0.dropped } }

    func pauseLimitReached() {
        state.withLock { state in
            if state.isBehind { state.isDropping = true }
        }
    }

    /// Takes in what is about to wait; gives back what there is room for, and whether the queue is behind now and was not before.
    func admit(_ deliveries: [Delivery], at now: MonotonicTime) -> (admitted: [Delivery], isNews: Bool) {
        state.withLock { state in
            let admitted = state.isDropping ? deliveries.filter { !drop($0, at: now, &state) } : deliveries
            state.waiting += admitted.count
            guard !state.isBehind, state.waiting >= limit else { return (admitted, false) }
            state.isBehind = true
            return (admitted, true)
        }
    }

    /// Events can be missed, as on any bad connection; news about the connection and its channels can not.
    private func drop(_ delivery: Delivery, at now: MonotonicTime, _ state: inout State) -> Bool {
        guard case .event(let envelope) = delivery, !envelope.event.hasPrefix("pusher:") else { return false }
        state.dropped += 1
        if let channel = envelope.channel, state.losses[channel] == nil { state.losses[channel] = now }
        return true
    }

    /// So many were delivered; gives back whether the queue has caught up, and who lost what meanwhile.
    func delivered(_ count: Int) -> (hasCaughtUp: Bool, losses: [String: MonotonicTime]) {
        state.withLock { state in
            state.waiting -= count
            guard state.isBehind, state.waiting <= limit / 2 else { return (false, [:]) }
            defer { state.losses = [:] }
            state.isBehind = false
            state.isDropping = false
            return (true, state.losses)
        }
    }
}
