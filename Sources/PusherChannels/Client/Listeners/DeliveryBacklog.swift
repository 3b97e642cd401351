/// The deliveries that wait on the application's queue. Beyond the limits, the server has to wait. If it can't wait any longer,
/// events are dropped until half of the room is free again; and if other news fills as much room again, it is dropped, too.
struct DeliveryBacklog: Sendable {
    private(set) var watermark: Watermark
    private(set) var dropped = 0
    /// The start of the gap if events are dropped: everything earlier was heard.
    private var receivedUpTo = Instant.origin
    /// The channels that lost events.
    private var losses: Set<Name> = []

    init(limit: Int, byteLimit: Int) {
        watermark = Watermark(limit: limit, byteLimit: byteLimit)
    }

    /// Indicates whether the server has to wait.
    var isOver: Bool { watermark.state == .over }

    mutating func pauseLimitReached(receivedUpTo time: Instant) {
        guard isOver else { return }
        watermark.pauseLimitReached()
        if losses.isEmpty { receivedUpTo = time }
    }

    /// Returns whether there is room for another delivery. Events can be missed, as on any bad connection; the outcomes of what
    /// the application asked for can't.
    ///
    /// - Parameter heard: The time up to which everything that arrived before this was heard. An event that waited for its key is
    ///   older than what was read last.
    mutating func admits(_ delivery: Delivery, receivedUpTo heard: Instant) -> Bool {
        guard watermark.drops else { return true }
        switch delivery.rank {
        case .outcome: return true
        case .notice where watermark.state == .dropping: return true
        case .notice, .event: break
        }
        dropped += 1
        receivedUpTo = min(receivedUpTo, heard, delivery.since ?? heard)
        if let channel = delivery.channel { losses.insert(channel) }
        return false
    }

    /// Indicates whether there is room for a log line, which can be missed like an event.
    var admitsLines: Bool { !watermark.drops }

    mutating func add(count: Int, bytes: Int) {
        watermark.add(count: count, bytes: bytes)
    }

    /// Notes that deliveries were made. If that frees enough room, returns the channels that lost events, and since when.
    mutating func delivered(_ count: Int, bytes: Int) -> (losses: [Name], since: Instant) {
        let before = watermark.state
        watermark.remove(count: count, bytes: bytes)
        guard before != .under, watermark.state == .under else { return ([], receivedUpTo) }
        defer { losses = [] }
        return (losses.sorted(), receivedUpTo)
    }
}

extension Delivery {
    /// The order in which deliveries are dropped.
    fileprivate enum Rank {
        /// An application event.
        case event
        /// A notice that a server may cause at any time, for example of a channel's members.
        case notice
        /// The outcome of one of the application's calls, or a state of the connection: never dropped.
        case outcome
    }

    fileprivate var rank: Rank {
        switch self {
        case .event(let envelope), .userEvent(let envelope): envelope.event.begins(with: "pusher:") ? .notice : .event
        case .decryptionFailed: .event
        case .memberAdded, .memberRemoved, .subscriptionCount, .gap, .recovered, .watchlist, .serverError, .report: .notice
        case .stateChanged, .subscribed, .subscriptionFailed, .signedIn, .signInFailed: .outcome
        }
    }

    /// The channel that misses something if it is dropped.
    fileprivate var channel: Name? {
        switch self {
        case .event(let envelope), .userEvent(let envelope): envelope.channel
        case .decryptionFailed(let channel, _, _, _), .memberAdded(let channel, _), .memberRemoved(let channel, _),
            .subscriptionCount(let channel, _), .gap(let channel, _):
            channel
        default: nil
        }
    }

    /// A time that is not later than the arrival of what is missing; nil for deliveries that arrived just now.
    fileprivate var since: Instant? {
        switch self {
        case .decryptionFailed(_, _, _, let since), .gap(_, let since): since
        default: nil
        }
    }

    /// The number of bytes it keeps while it waits. The switch has no default, so a new case can't be left out by mistake.
    var size: Int {
        switch self {
        case .event(let envelope), .userEvent(let envelope): envelope.size
        case .decryptionFailed(_, _, let data, _): data?.utf8.count ?? 0
        case .memberAdded(_, let member), .memberRemoved(_, let member): member.size
        case .subscriptionFailed(_, let failure): failure.error.size + (failure.authorization?.body?.utf8.count ?? 0)
        case .watchlist(let event): event.userIDs.reduce(0) { $0 + $1.utf8.count + MemoryLayout<String>.stride }
        case .signedIn(let userID): userID.text.utf8.count
        case .signInFailed(let error), .serverError(let error), .report(let error): error.size
        case .stateChanged(_, _, let reason): reason?.size ?? 0
        case .subscribed, .gap, .recovered, .subscriptionCount: 0
        }
    }
}
