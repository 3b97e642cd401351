/// Events that this client sends to a channel's other subscribers.
extension ConnectionMachine {
    /// Sends a client event, queues it until its channel is subscribed, or refuses it with a reason. Refusals are also logged, as
    /// most callers ignore the result.
    @discardableResult
    mutating func trigger(_ event: ClientEvent, at now: Instant) -> TriggerResult {
        let result = outcome(of: event, at: now)
        switch result {
        case .sent:
            send(event)
            noteSent(at: now)
        case .queued: break
        case .refused(let error): outputs.append(.log(.notTriggered(Name(event.name), channel: event.channel, error)))
        }
        return result
    }

    private mutating func send(_ event: ClientEvent) {
        outputs.append(.command(.send(event.message)))
        remember(event)
    }

    private mutating func outcome(of event: ClientEvent, at now: Instant) -> TriggerResult {
        if let problem = problem(of: event) { return .refused(PusherError(.invalidRequest, message: problem)) }
        let result = subscriptions[event.channel]?.trigger(
            event, queueLimit: configuration.unsentEventLimit, byteLimit: configuration.unsentEventByteLimit,
            limiter: &unsentEvents.limiter, at: now)
        return result ?? .refused(PusherError(.invalidRequest, message: "\(event.channel) is not subscribed to"))
    }

    private func problem(of event: ClientEvent) -> String? {
        let limits = configuration.limits
        if isShutDown { return "\(event.name) can't be triggered: the client was shut down; make another one" }
        guard event.name.begins(with: "client-") else {
            return "\(event.name) can't be triggered by a client: the name must begin with client-"
        }
        if let problem = limits.problem(ofEventName: event.name) { return problem }
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
    mutating func sendUnsentEvents(of channel: Name, at now: Instant) {
        guard subscriptions[channel]?.hasUnsentEvents == true else { return }
        unsentEvents.add(channel)
        sendUnsentEvents(at: now)
    }

    /// Sends as many of the waiting events as the limiter allows.
    mutating func sendUnsentEvents(at now: Instant) {
        while let channel = unsentEvents.nextChannel(at: now) {
            guard let event = subscriptions[channel]?.takeUnsentEvent() else {
                unsentEvents.remove(channel)
                continue
            }
            unsentEvents.sent(on: channel, at: now)
            send(event)
        }
    }
}

/// The channels with client events that wait for the limiter. They take turns, so none has to wait for another that always has
/// more.
struct UnsentEvents: Equatable, Sendable {
    var limiter: ClientEventLimiter
    private var channels: Set<Name> = []
    /// The channel among them that sent most recently.
    private var lastInTurn: Name = ""

    init(perSecond: Int?) {
        limiter = ClientEventLimiter(perSecond: perSecond)
    }

    mutating func add(_ channel: Name) {
        channels.insert(channel)
    }

    mutating func remove(_ channel: Name) {
        channels.remove(channel)
    }

    mutating func connectionLost() {  // not a mutant: a channel that has none left is taken out when it is its turn
        channels = []
    }

    /// Returns the channel whose turn it is, if anything may be sent now.
    mutating func nextChannel(at now: Instant) -> Name? {
        guard limiter.isOpen(at: now) else { return nil }
        return channels.filter { $0 > lastInTurn }.min() ?? channels.min()
    }

    mutating func sent(on channel: Name, at now: Instant) {
        limiter.count(at: now)
        lastInTurn = channel
    }

    /// The time at which another event may be sent; nil if none waits.
    var nextDeadline: Instant? { channels.isEmpty ? nil : limiter.nextChance }
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
