/// The calls that wait until a channel is subscribed.
struct SubscriptionWaits: Sendable {
    typealias Wait = OneShot<Void>

    private var waits: [Name: [Int: Wait]] = [:]
    private var ended = EndedWaits()

    mutating func add(_ wait: Wait, _ id: Int, for channel: Name) {
        waits[channel, default: [:]][id] = wait
    }

    /// Removes a call that no longer waits.
    mutating func remove(_ id: Int, for channel: Name) {
        waits[channel]?[id] = nil
        if waits[channel]?.isEmpty == true { waits[channel] = nil }
    }

    /// Ends one call's wait.
    mutating func end(_ id: Int, of channel: Name, _ failure: PusherError?) {
        guard let wait = waits[channel]?[id] else { return }
        remove(id, for: channel)
        ended.add(wait, failure)
    }

    /// Ends the waits of all calls for a channel.
    mutating func end(of channel: Name, _ failure: PusherError?) {
        for id in (waits[channel] ?? [:]).keys.sorted() { end(id, of: channel, failure) }
    }

    mutating func endAll(_ failure: PusherError) {
        for channel in waits.keys.sorted() { end(of: channel, failure) }
    }

    /// Appends the closures that resume the calls whose wait is over.
    mutating func takeWakeUps(into wakeUps: inout [() -> Void]) { ended.takeWakeUps(into: &wakeUps) }
}

extension PusherError {
    /// The error of a waiting call when the client is disconnected on request.
    static let clientDisconnected = PusherError(
        .transport(.cancelled), message: "the client is disconnected; subscribe once it is to be connected again")

    /// The error of calls after a shutdown, which is for good.
    static let clientShutDown = PusherError(.transport(.cancelled), message: "the client was shut down; make another one")

    static func unsubscribed(_ channel: Name) -> PusherError {
        PusherError(.transport(.cancelled), message: "\(channel) was unsubscribed meanwhile")
    }
}

extension ClientCore {
    /// Waits until a channel is subscribed, for the handle whose listeners have this number.
    ///
    /// - Throws: The reason why the channel won't be subscribed, `timedOut` after the limit, or `CancellationError` when the task
    ///   is cancelled or its service group is asked to end.
    func awaitSubscription(to channel: Name, number: Int, within limit: Duration?) async throws {
        let (wait, id, scheduler) = (SubscriptionWaits.Wait(), makeID(), environment.scheduler)
        let timer = limit.map { limit in
            scheduler.schedule(at: scheduler.now + limit, label: "subscription") { [weak self] in
                wait.give(.failure(self?.notInTime(channel, limit) ?? .clientDisconnected))
            }
        }
        defer {
            timer?.cancel()
            change { $0.waits.subscriptions.remove(id, for: channel) }
        }
        begin(wait, id, channel, number)
        try await wait.valueUnlessAskedToEnd()
    }

    private func begin(_ wait: SubscriptionWaits.Wait, _ id: Int, _ channel: Name, _ number: Int) {
        change { state in
            state.waits.subscriptions.add(wait, id, for: channel)
            if state.machine.isShutDown { return state.waits.subscriptions.end(id, of: channel, .clientShutDown) }
            switch Self.outcome(of: channel, number, state) {
            // Other calls may wait for a channel that has been requested since.
            case .ended(let failure): state.waits.subscriptions.end(id, of: channel, failure ?? .unsubscribed(channel))
            case .open:
                if state.machine.subscriptions[channel]?.isSubscribed == true {
                    state.waits.subscriptions.end(id, of: channel, nil)
                }
            }
        }
    }

    private func notInTime(_ channel: Name, _ limit: Duration) -> PusherError {
        // The error of a lost connection is newer than a failure of the channel on it.
        let (state, failure) = read { ($0.state, $0.session.lastError ?? $0.subscriptions[channel]?.latestFailure) }
        let standing: String? =
            switch state {
            case .disconnected: "the client is disconnected: call connect() or run()"
            default: failure == nil ? "the client is \(state)" : nil
            }
        let reason = [failure?.message, standing].compactMap(\.self).joined(separator: "; ")
        return PusherError(.timedOut, code: failure?.code, message: "\(channel) was not subscribed within \(limit): \(reason)")
    }
}
