/// Events that this client sends to a channel's other subscribers.
extension ConnectionMachine {
    /// Sends a client event, queues it until its channel is subscribed, or refuses it with a reason. Refusals are also logged, as
    /// most callers ignore the result.
    @discardableResult
    mutating func trigger(_ event: ClientEvent, at now: Instant, into effects: inout [Effect]) -> TriggerResult {
        let result = outcome(of: event, at: now, into: &effects)
        switch result {
        case .sent: noteSent(at: now)
        case .queued: break
        case .refused(let error): effects.append(.log(.notTriggered(Name(event.name), channel: event.channel, error)))
        }
        return result
    }

    private mutating func outcome(of event: ClientEvent, at now: Instant, into effects: inout [Effect]) -> TriggerResult {
        if let problem = problem(of: event) { return .refused(PusherError(.invalidRequest, message: problem)) }
        let result = subscriptions[event.channel]?.trigger(
            event, queueLimit: configuration.unsentEventLimit, byteLimit: configuration.unsentEventByteLimit,
            limiter: &clientEventLimiter, at: now, into: &effects)
        return result ?? .refused(PusherError(.invalidRequest, message: "\(event.channel) is not subscribed to"))
    }

    private func problem(of event: ClientEvent) -> String? {
        let limits = configuration.limits
        if isShutDown { return "\(event.name) can't be triggered: the client was shut down; make another one" }
        guard event.name.begins(with: "client-") else {
            return "\(event.name) can't be triggered by a client: the name must begin with client-"
        }
        if let limit = limits.eventNameLength, event.name.utf8.count > limit {
            return "an event name can't be longer than \(limit) bytes, this one has \(event.name.utf8.count)"
        }
        if let limit = limits.clientEventsPerSecond, limit < 1 {
            return "\(event.name) can't be triggered: ProtocolLimits.clientEventsPerSecond is \(limit)"
        }
        guard ChannelName(event.channel).allowsClientEvents else {
            return "\(event.channel) takes no client events: only private and presence channels do"
        }
        if let limit = limits.eventDataSize, event.data.utf8.count > limit {
            return "a client event can't carry more than \(limit) bytes, this one has \(event.data.utf8.count)"
        }
        return nil
    }

    /// Sends the events that waited for a channel's subscription.
    mutating func sendUnsentEvents(of channel: Name, at now: Instant, into effects: inout [Effect]) {
        guard subscriptions[channel]?.hasUnsentEvents == true else { return }
        channelsWithUnsentEvents.insert(channel)
        sendUnsentEvents(at: now, into: &effects)
    }

    /// Sends as many of the waiting events as the limiter allows. The channels take turns, so none has to wait for another that
    /// always has more.
    mutating func sendUnsentEvents(at now: Instant, into effects: inout [Effect]) {
        while clientEventLimiter.isOpen(at: now), let channel = nextChannelWithUnsentEvents {
            guard let event = subscriptions[channel]?.takeUnsentEvent() else {
                channelsWithUnsentEvents.remove(channel)
                continue
            }
            clientEventLimiter.count(at: now)
            effects.append(.send(event.message))
            lastChannelInTurn = channel
        }
    }

    private var nextChannelWithUnsentEvents: Name? {
        channelsWithUnsentEvents.filter { $0 > lastChannelInTurn }.min() ?? channelsWithUnsentEvents.min()
    }
}

/// A limiter that keeps to the number of client events per second that a server accepts on a connection.
struct ClientEventLimiter: Equatable, Sendable {
    private static let window: Duration = .seconds(1)

    let perSecond: Int?
    private var sent: [Instant] = []

    init(perSecond: Int?) {
        self.perSecond = perSecond
    }

    /// Indicates whether an event may be sent now.
    mutating func isOpen(at now: Instant) -> Bool {
        guard let perSecond else { return true }
        sent.removeAll { now - $0 >= Self.window }
        return sent.count < perSecond
    }

    mutating func count(at now: Instant) {
        if perSecond != nil { sent.append(now) }
    }

    /// The time at which the next event may be sent, after one wasn't allowed.
    var nextChance: Instant? {
        sent.first.map { $0 + Self.window }
    }

    /// Restarts the count for a new connection.
    mutating func reset() {
        sent = []
    }
}
