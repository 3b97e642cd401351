/// One followed channel: decides when its state has to be loaded, and what becomes of its events meanwhile.
///
/// Position first, then data: the channel is subscribed, then the load begins, and the events that come from then on are held
/// until it has ended. Events that came before it began are in the state that it gives. It is a value without a clock.
struct FollowedChannel: Sendable {
    enum Phase: Sendable {
        /// The channel's next success, or a sign that it came, wants a load.
        case subscribing
        /// A load is wanted, and waits for its time or its turn.
        case waiting(LoadReason)
        case loading(LoadReason)
        /// The state is up to date, and the events are the application's.
        case live
    }

    /// What is to be done about an update.
    enum Reaction {
        case nothing
        case give(PusherEvent)
        /// The event was held; it has this size.
        case hold(Int)
        case fail(PusherError)
        case load
    }

    /// The time after a load in which another one is postponed, as if the first had failed.
    private static let restTime: Duration = .seconds(60)
    private static let delay = ExponentialDelay(initial: .seconds(1), maximum: .seconds(60))

    private(set) var phase = Phase.subscribing
    /// The number of the load that is wanted or under way.
    private(set) var load = 0
    private(set) var heldBytes = 0
    private var held: [PusherEvent] = []
    private let buffering: StreamBuffering
    /// The reason for one more load, found during the one under way.
    private var nextReason: LoadReason?
    private var lastEnd: Instant?
    /// The number of loads that failed, or followed soon, one after the other.
    private var repeats = 0
    private var hasFailed = false
    /// Indicates whether the channel's next success is one by which nothing was missed.
    private var isRecovered = false

    init(_ buffering: StreamBuffering) {
        self.buffering = buffering
    }

    var isLive: Bool { if case .live = phase { true } else { false } }

    /// Indicates whether events can be applied to the latest state. One that is only too old misses none.
    private var isCurrent: Bool {
        switch phase {
        case .live, .waiting(.maximumAge): true
        case .loading(.maximumAge): nextReason == nil
        case .subscribing, .waiting, .loading: false
        }
    }

    /// Indicates whether a load is wanted or under way.
    var isBeingRepaired: Bool {
        switch phase {
        case .waiting, .loading: true
        case .subscribing, .live: false
        }
    }

    // MARK: Updates

    /// Handles the channel's next update.
    ///
    /// - Parameter isOld: Indicates whether it was taken before a load that is wanted or under way, which then covers it.
    mutating func read(_ update: ChannelUpdate, isOld: Bool = false, at now: Instant) -> Reaction {
        switch update {
        case .subscribed:
            // After a loss, the gap that follows says more.
            defer { isRecovered = false }
            if case .subscribing = phase { return want(.subscribedAgain, at: now) }
            if isRecovered { return .nothing }
            return isCurrent || !isOld ? missed(.subscribedAgain, at: now) : .nothing
        case .event(let event):
            return read(event, isOld: isOld)
        case .eventsMayBeMissing(let gap):
            // A loop always begins with a state, whatever an earlier one left unread. Elements may have been dropped after the one
            // that tells of the first.
            if gap.reason == .betweenStreams { return .nothing }
            return isCurrent || !isOld || gap.reason == .overflow ? missed(.gap(gap), at: now) : .nothing
        case .recovered:
            isRecovered = true
            return .nothing
        case .subscriptionFailed(let error):
            return .fail(error)
        case .memberAdded, .memberRemoved, .subscriptionCount:
            return .nothing
        }
    }

    private mutating func read(_ event: PusherEvent, isOld: Bool) -> Reaction {
        if case .loading = phase, nextReason == nil, !isOld {
            let size = event.envelope.size
            held.append(event)
            heldBytes += size
            return .hold(size)
        }
        return isCurrent ? .give(event) : .nothing
    }

    /// Indicates whether more is held than may be.
    var holdsTooMuch: Bool { held.count > buffering.limit || heldBytes > buffering.byteLimit }

    /// Notes that events were missed: a load that is under way isn't enough.
    mutating func missed(_ reason: LoadReason, at now: Instant) -> Reaction {
        switch phase {
        case .live: return want(reason, at: now)
        case .loading:
            if nextReason == nil || nextReason?.isVague == true { nextReason = reason }
            _ = takeHeld()
            return .nothing
        case .waiting(let known):
            if known.isVague { phase = .waiting(reason) }
            return .nothing
        case .subscribing:
            // The success may be among what was dropped, and there won't be another one.
            if case .gap(let gap) = reason, gap.reason == .overflow { return want(reason, at: now) }
            return .nothing
        }
    }

    /// The channel for another loop, whose source begins later: its state is out of date, whatever that source recovers.
    var interrupted: FollowedChannel {
        var channel = self
        _ = channel.takeHeld()
        (channel.phase, channel.nextReason, channel.isRecovered) = (.subscribing, nil, false)
        return channel
    }

    // MARK: Loads

    /// Wants a load, unless one is wanted or under way.
    mutating func want(_ reason: LoadReason, at now: Instant) -> Reaction {
        guard !isBeingRepaired else { return .nothing }
        // Before the first state, nothing is missing.
        let reason = lastEnd == nil ? LoadReason.first : reason
        // The application chose the time between loads for the state's age.
        let isRepeated = if case .maximumAge = reason { false } else { lastEnd.map { now - $0 < Self.restTime } ?? false }
        postpone(reason, isRepeated: isRepeated)
        return .load
    }

    /// Wants a load for another reason than an update. One that is under way isn't enough, unless the state was only too old, but
    /// one that waits is.
    mutating func reload(_ reason: LoadReason, at now: Instant) -> Reaction {
        switch reason {
        case .first, .maximumAge: want(reason, at: now)
        case .gap, .subscribedAgain, .heldTooMuch, .reload: missed(reason, at: now)
        }
    }

    private mutating func postpone(_ reason: LoadReason, isRepeated: Bool) {
        repeats = isRepeated ? repeats + 1 : 0
        phase = .waiting(reason)
        load += 1
    }

    /// Returns the time to wait before the load, and the error that says why it is postponed; no error if a failure said it.
    func delay(of channel: Name, at now: Instant, using random: inout SplitMix64) -> (Duration, PusherError?) {
        guard repeats > 0 else { return (.zero, nil) }
        let delay = Self.delay.delay(afterFailures: repeats - 1, using: &random)
        guard case .waiting(let reason) = phase, let lastEnd, !hasFailed else { return (delay, nil) }
        switch reason {
        case .first, .reload, .maximumAge: return (delay, nil)
        case .gap, .subscribedAgain, .heldTooMuch:
            return (
                delay,
                PusherError(
                    .loadPostponed,
                    message:
                        "\(channel.text) is loaded again in \(delay.inSeconds) (\(reason)), after \((now - lastEnd).inSeconds)")
            )
        }
    }

    /// Begins a load; events are held from now on. Returns false if it isn't wanted any more.
    mutating func begin(_ load: Int) -> Bool {
        guard load == self.load, case .waiting(let reason) = phase else { return false }
        phase = .loading(reason)
        return true
    }

    /// Gives up a load that hasn't begun: it is wanted again after the channel's next success. Returns false if it isn't wanted
    /// any more.
    mutating func giveUp(_ load: Int) -> Bool {
        guard load == self.load, case .waiting = phase else { return false }
        phase = .subscribing
        return true
    }

    /// Ends a load with a state; returns its reason and what was held. Returns nil if the load isn't the one under way.
    mutating func loaded(_ load: Int, at now: Instant) -> (reason: LoadReason, held: [PusherEvent])? {
        guard load == self.load, case .loading(let reason) = phase else { return nil }
        if hasFailed { repeats = 0 }
        (lastEnd, hasFailed, phase) = (now, false, .live)
        if let next = nextReason.take() { postpone(next, isRepeated: true) }
        return (reason, takeHeld())
    }

    /// Ends a load without a state: it is wanted again. Returns what was held, if it can be applied to the latest state. Returns
    /// nil if the load isn't the one under way.
    mutating func failed(_ load: Int, at now: Instant) -> [PusherEvent]? {
        guard load == self.load, case .loading(let reason) = phase else { return nil }
        let (held, next) = (takeHeld(), nextReason.take() ?? reason)
        hasFailed = true
        postpone(reason.isVague ? next : reason, isRepeated: true)
        return isCurrent ? held : []
    }

    private mutating func takeHeld() -> [PusherEvent] {
        defer { (held, heldBytes) = ([], 0) }
        return held
    }
}
