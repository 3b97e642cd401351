/// The counts for a client's metrics since they were last taken. They are counted under the client's lock, and reported outside
/// of it.
///
/// Without the trait `Metrics` it counts nothing.
struct MetricsTally: Sendable {
    #if Metrics
    private(set) var events: [ChannelName.Kind: Int] = [:]
    private(set) var connectionEvents = 0
    private(set) var bytes = 0
    private(set) var dropped = 0
    private(set) var waiting = 0
    private(set) var decryptionFailures = 0
    private(set) var attempts = 0
    private(set) var closes: [CloseLabel: Int] = [:]
    private(set) var states: [ConnectionState: Int] = [:]
    private(set) var channels = Subscriptions.Counts()
    private(set) var pings: [Duration] = []
    private(set) var paused = Duration.zero
    private(set) var isEmpty = true

    // These are under way, so they outlive the taking.
    private var pingSent: Instant?
    private var pausedSince: Instant?
    private var droppedBefore = 0
    private var channelsBefore = Subscriptions.Counts()

    /// - Parameter attempt: The attempt that was current before the input.
    mutating func note(_ input: Input, attempt: ConnectionAttempt, at now: Instant) {
        switch input {
        case .received(.control(.pong, _), _):
            guard let sent = pingSent.take() else { return }
            pings.append(now - sent)
        case .socketClosed(let closure, let closed):
            closes[CloseLabel(closure), default: 0] += 1
            // An earlier connection's close may come late.
            if closed == attempt { endConnection(at: now) }
        default: return
        }
        isEmpty = false
    }

    /// Ends what is under way on a connection: the next one begins with reading on.
    private mutating func endConnection(at now: Instant) {
        if let since = pausedSince.take() { paused += now - since }
        pingSent = nil
    }

    mutating func note(_ output: Output, subscriptions: Subscriptions, at now: Instant) {
        switch output {
        case .deliver(.event(let envelope)), .deliver(.userEvent(let envelope)):
            noteEvent(on: envelope.channel, subscriptions)
        case .deliver(.memberAdded(let channel, _)), .deliver(.memberRemoved(let channel, _)):
            noteEvent(on: channel, subscriptions)
        case .deliver(.stateChanged(let old, let new, _)):
            states[old, default: 0] -= 1
            states[new, default: 0] += 1
        case .deliver(.decryptionFailed): decryptionFailures += 1
        case .command(.openSocket):
            attempts += 1
            endConnection(at: now)
        case .command(.send(.ping)): pingSent = pingSent ?? now
        case .setReading(let isOn):
            if isOn, let since = pausedSince.take() { paused += now - since } else if !isOn { pausedSince = pausedSince ?? now }
        default: return
        }
        isEmpty = false
    }

    private mutating func noteEvent(on channel: Name?, _ subscriptions: Subscriptions) {
        if let channel {
            events[(subscriptions[channel]?.name ?? ChannelName(channel)).kind, default: 0] += 1
        } else {
            connectionEvents += 1
        }
    }

    /// Notes that the client is gone, perhaps before anybody could hear that its connection was closed.
    mutating func noteEnd(in state: ConnectionState) {
        noteChannels(Subscriptions.Counts())
        guard state != .disconnected else { return }
        states[state, default: 0] -= 1
        isEmpty = false
    }

    /// Notes how many channels are in each state.
    mutating func noteChannels(_ counts: Subscriptions.Counts) {
        guard counts != channelsBefore else { return }
        for part in [\Subscriptions.Counts.subscribed, \.pending, \.failed] {
            channels[keyPath: part] += counts[keyPath: part] - channelsBefore[keyPath: part]
        }
        (channelsBefore, isEmpty) = (counts, false)
    }

    /// Adds the bytes of one read of the connection.
    mutating func noteRead(bytes: Int) {
        self.bytes += bytes
        isEmpty = false
    }

    /// Notes a change in the number of deliveries that wait on the application's queue.
    mutating func noteWaiting(_ count: Int) {
        waiting += count
        isEmpty = false
    }

    /// Notes the total number of events dropped since the client began.
    mutating func noteDropped(_ total: Int) {
        guard total > droppedBefore else { return }
        dropped += total - droppedBefore
        droppedBefore = total
        isEmpty = false
    }

    /// Returns the counts and starts over; nil if nothing was counted.
    mutating func take() -> MetricsTally? {
        guard !isEmpty else { return nil }
        var next = MetricsTally()
        (next.pingSent, next.pausedSince, next.droppedBefore) = (pingSent, pausedSince, droppedBefore)
        next.channelsBefore = channelsBefore
        defer { self = next }
        return self
    }
    #else
    func note(_ input: Input, attempt: ConnectionAttempt, at now: Instant) {}
    func note(_ output: Output, subscriptions: Subscriptions, at now: Instant) {}
    func noteEnd(in state: ConnectionState) {}
    func noteChannels(_ counts: Subscriptions.Counts) {}
    func noteRead(bytes: Int) {}
    func noteWaiting(_ count: Int) {}
    func noteDropped(_ total: Int) {}
    func take() -> MetricsTally? { nil }
    #endif
}

#if Metrics
/// A close code as a label: codes with a defined meaning by number, the others by class, so a server can't create labels.
struct CloseLabel: Hashable, Sendable {
    let text: String

    init(_ closure: WebSocketClosure) {
        text =
            switch closure {
            case .failed(let failure): failure.kind.label
            case .closed(let code, _):
                switch code {
                case 1000...1003, 1005...1015, 4000...4009, 4100, 4200...4202: "\(code)"
                case 4000...4099: "4000-4099"
                case 4100...4199: "4100-4199"
                case 4200...4299: "4200-4299"
                default: "other"
                }
            }
    }
}
#endif
