/// The deliveries that wait on the application's queue. Beyond the limits, the server has to wait. If it can't wait any longer,
/// events are dropped until half of the room is free again.
struct DeliveryBacklog: Sendable {
    private(set) var watermark: Watermark
    private(set) var dropped = 0
    /// The start of the gap if events are dropped: everything earlier was heard.
    private var heardUpTo = Instant.origin
    /// The channels that lost events.
    private var losses: Set<Name> = []

    init(limit: Int, byteLimit: Int) {
        watermark = Watermark(limit: limit, byteLimit: byteLimit)
    }

    /// Indicates whether the server has to wait.
    var isOver: Bool { watermark.state == .over }

    mutating func pauseLimitReached(heardUpTo time: Instant) {
        guard isOver else { return }
        watermark.pauseLimitReached()
        if losses.isEmpty { heardUpTo = time }
    }

    /// Returns whether there is room for another delivery. Events can be missed, as on any bad connection; notifications about
    /// the connection and its channels can't.
    ///
    /// - Parameter heard: The time up to which everything that arrived before this was heard. An event that waited for its key is
    ///   older than what was read last.
    mutating func admits(_ delivery: Delivery, heardUpTo heard: Instant) -> Bool {
        guard watermark.state == .dropping, delivery.isOfEvent else { return true }
        dropped += 1
        heardUpTo = min(heardUpTo, heard)
        if let channel = delivery.envelope?.channel ?? delivery.undecryptedChannel { losses.insert(channel) }
        return false
    }

    /// Indicates whether there is room for a log line, which can be missed like an event.
    var admitsLines: Bool { watermark.state != .dropping }

    mutating func add(count: Int, bytes: Int) {
        watermark.add(count: count, bytes: bytes)
    }

    /// Notes that deliveries were made. If that frees enough room, returns the channels that lost events, and since when.
    mutating func delivered(_ count: Int, bytes: Int) -> (losses: [Name], since: Instant) {
        let before = watermark.state
        watermark.remove(count: count, bytes: bytes)
        guard before != .under, watermark.state == .under else { return ([], heardUpTo) }
        defer { losses = [] }
        return (losses.sorted(), heardUpTo)
    }
}

extension Delivery {
    /// The event that it delivers, if any.
    var envelope: Envelope? {
        switch self {
        case .event(let envelope), .userEvent(let envelope): envelope
        default: nil
        }
    }

    /// The channel of an event that could not be decrypted.
    fileprivate var undecryptedChannel: Name? {
        if case .decryptionFailed(let channel, _, _, _) = self { channel } else { nil }
    }

    /// Indicates whether it is about an application event.
    fileprivate var isOfEvent: Bool {
        envelope.map { !$0.event.begins(with: "pusher:") } ?? (undecryptedChannel != nil)
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
        case .signInFailed(let error), .error(let error): error.size
        case .stateChanged(_, _, let reason): reason?.size ?? 0
        case .subscribed, .gap, .subscriptionCount: 0
        }
    }
}
