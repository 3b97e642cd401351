/// The channels that the user wants.
///
/// It keeps the number of those that await a reply. A server may send thousands of errors that say nothing about their subject,
/// and thousands of channels may be wanted: they can't be counted for each error.
struct Subscriptions: Equatable, Sendable {
    private var channels: [Name: SubscriptionMachine] = [:]
    /// The number of channels that the server was asked for and hasn't answered yet.
    private(set) var unanswered = 0
    /// The number of those among them that were authorized.
    private(set) var unansweredAuthorized = 0
    /// The number of those that asked for more than the channel, and may be refused for it.
    private(set) var unansweredWithOptions = 0
    /// The numbers of channels in each state, for ``PusherHealth`` and the metrics.
    private(set) var counts = Counts()
    /// The last error that may have been the answer to any of several; nil once all have been answered.
    var unattributedError: PusherError?
    /// Refusals of authorized subscriptions that name no channel. There are fewer of them than such subscriptions under way.
    var unnamedRefusals: [PusherError] = []
    /// The number of channels that are wanted again while the refusal of an undone request may come.
    private var wantedAndUndone = 0
    /// For channels that are no longer wanted, the requests on this connection that the server hasn't answered.
    private var undone: [Name: Undone] = [:]
    /// The number of such channels that are remembered. Without one, a late answer looks like another subscription.
    private static let undoneLimit = 1_000
    /// The number of subscriptions made so far.
    private var made = 0
    private var generation = 0
    var deadlines = DeadlineHeap<ConnectionMachine.SubscriptionDeadline>()
    var jitter: SplitMix64

    init(seed: UInt64) {
        jitter = SplitMix64(seed: seed)
    }

    /// Adds a channel behind those that were requested before.
    mutating func add(_ subscription: SubscriptionMachine) {
        var subscription = subscription
        subscription.ordinal = made
        subscription.undoneRequests = undone.removeValue(forKey: subscription.channel)?.count ?? 0
        made += 1
        self[subscription.channel] = subscription
    }

    /// Returns a new attempt for a channel, which no earlier one equals.
    mutating func nextAttempt(for channel: Name, on connection: ConnectionAttempt) -> SubscriptionAttempt {
        generation += 1
        return SubscriptionAttempt(channel: channel, connection: connection, generation: generation)
    }

    subscript(channel: Name) -> SubscriptionMachine? {
        get { channels[channel] }
        _modify {
            count(channel, -1)
            defer {
                count(channel, 1)
                if unanswered == 0 { unattributedError = nil }
            }
            yield &channels[channel]
        }
    }

    private struct Undone: Equatable, Sendable {
        var count: Int
        let ordinal: Int
    }

    /// The numbers of the channels that the application wants, which the user's own isn't: it may be refused, and its events come.
    struct Counts: Equatable, Sendable {
        var subscribed = 0
        var pending = 0
        var failed = 0
    }

    private mutating func count(_ channel: Name, _ step: Int) {
        guard let index = channels.index(forKey: channel) else { return }
        switch channels.values[index].state {
        case _ where channel.isOfUser: break
        case .subscribed: counts.subscribed += step
        case .failed: counts.failed += step
        case .waiting, .authorizing, .awaitingUser, .subscribing, .retrying: counts.pending += step
        }
        if channels.values[index].hasUndoneVerdict { wantedAndUndone += step }
        guard channels.values[index].isSubscribing else { return }
        unanswered += step
        if channels.values[index].awaitsVerdict { unansweredAuthorized += step }
        if channels.values[index].options != nil { unansweredWithOptions += step }
    }

    /// Calls `body` with a channel's state, in place: copying it would cost more than everything else that an event needs. `body`
    /// must not change it.
    mutating func look<Result>(at channel: Name, _ body: (inout SubscriptionMachine) -> Result) -> Result? {
        channels.index(forKey: channel).map { body(&channels.values[$0]) }
    }

    var count: Int { channels.count }

    var isEmpty: Bool { channels.isEmpty }

    /// The channels, in no order.
    var all: some Collection<SubscriptionMachine> { channels.values }

    /// Returns channels in the order in which they were first requested.
    func inOrder(where isIncluded: (SubscriptionMachine) -> Bool = { _ in true }) -> [SubscriptionMachine] {
        channels.values.filter(isIncluded).sorted { $0.ordinal < $1.ordinal }
    }

    mutating func remove(_ channel: Name) -> SubscriptionMachine? {
        defer { self[channel] = nil }
        if let given = channels[channel] {
            let count = given.undoneRequests + (given.isSubscribing ? 1 : 0)
            if count > 0, undone.count < Self.undoneLimit { undone[channel] = Undone(count: count, ordinal: given.ordinal) }
        }
        return channels[channel]
    }

    /// Notes a success of a channel that isn't wanted.
    mutating func answeredUndone(_ channel: Name) {
        undone[channel]?.count -= 1
        if undone[channel]?.count == 0 { undone[channel] = nil }
    }

    /// Indicates whether the channel's oldest unanswered request was undone, and its answer says nothing of a later one.
    func hasUndone(_ channel: Name) -> Bool { undone[channel] != nil || channels[channel].map { $0.undoneRequests > 0 } == true }

    /// The channel with the oldest undone request that the server may refuse.
    var oldestUndone: Name? {
        let wanted = wantedAndUndone == 0 ? [] : all.filter(\.hasUndoneVerdict).map { (ordinal: $0.ordinal, channel: $0.channel) }
        let others = undone.filter { ChannelName($0.key.text).needsAuthorization }.map {
            (ordinal: $0.value.ordinal, channel: $0.key)
        }
        return (wanted + others).min { $0.ordinal < $1.ordinal }?.channel
    }

    /// Notes a refusal of a channel that isn't wanted, or whose next request isn't sent yet: it answers one that was undone.
    mutating func refusedUndone(_ channel: Name) {
        answeredUndone(channel)
        if hasUndone(channel), channels[channel] != nil { self[channel]?.undoneRequests -= 1 }
    }

    mutating func forgetUndone() {
        undone = [:]
    }
}
