import Foundation

/// The streams of a client.
struct Streams: Sendable {
    var events = StreamTable<PusherEvent>(of: "events", size: \.envelope.size, event: { $0 })
    var updates: StreamTable<ChannelUpdate>
    /// The updates of all channels, for pools.
    var poolUpdates = StreamTable<PoolUpdate>(of: "updates") { $0.update.size }
    // State changes are small, so limiting their number is enough.
    var states = StreamTable<ConnectionStateChange>(of: "connection states") { _ in 0 }
    /// The state changes that pools read for as long as the client exists: a pool's run ends many times, but it keeps listening.
    var poolStates = StreamTable<ConnectionStateChange>(of: "connection states") { _ in 0 }
    private let date: @Sendable (Instant) -> Date
    /// The places up to which streams that have ended were read.
    var left = ReadPlaces()
    private(set) var isShutDown = false
    private var latestNumber = 0

    /// - Parameters:
    ///   - tracksReading: Indicates whether it is to be known how far streams were read.
    ///   - date: Returns the wall clock's time at an instant. It is called when somebody reads that time.
    init(tracksReading: Bool = false, date: @escaping @Sendable (Instant) -> Date) {
        self.date = date
        updates = StreamTable(of: "updates", size: \.size, event: \.event) { time in
            .eventsMayBeMissing(EventGap(.overflow) { date(time) })
        }
        (events.tracksReading, updates.tracksReading) = (tracksReading, tracksReading)
    }

    /// Returns a new number for a stream or a reader.
    mutating func makeNumber() -> Int {
        latestNumber += 1
        return latestNumber
    }

    var tracksReading: Bool { updates.tracksReading }

    // MARK: Streams after others

    /// Begins a new stream of a channel with what nobody read since an earlier one ended, if there can be anything.
    mutating func tellUnread(of channel: Name, to id: Int, _ subscription: SubscriptionMachine?) {
        guard let since = updates.takeUnreadSince(of: channel), subscription?.wasSubscribed == true else { return }
        let gap = gap(since)
        updates.change(id) { $0.append(gap, at: since) }
    }

    /// Does so for a new stream of all channels.
    mutating func tellUnread(of channels: [Name], toPoolStream id: Int, since: Instant) {
        let gap = gap(since)
        for channel in channels { poolUpdates.change(id) { $0.append(PoolUpdate(channel, gap), at: since) } }
    }

    private func gap(_ since: Instant) -> ChannelUpdate {
        .eventsMayBeMissing(EventGap(.betweenStreams) { [date] in date(since) })
    }

    /// Notes what a stream of updates that was removed leaves unread, unless a later one has told it.
    mutating func noteUnread<Element>(
        _ queue: StreamQueue<Element>, of channel: Name?, in table: AnyKeyPath, at now: Instant
    ) {
        guard !queue.isTold else { return }
        let since = queue.unreadSince ?? now
        switch table {
        case \Streams.updates: updates.noteUnread(of: channel, since: since)
        case \Streams.poolUpdates: poolUpdates.noteUnread(of: nil, since: since)
        default: break
        }
    }

    var isEmpty: Bool { events.isEmpty && states.isEmpty && updates.isEmpty && poolUpdates.isEmpty && poolStates.isEmpty }

    /// The number of streams the server has to wait for.
    var over: Int { events.over + states.over + updates.over + poolUpdates.over }

    /// The number of elements that streams dropped.
    var dropped: Int { events.dropped + states.dropped + updates.dropped + poolUpdates.dropped }

    /// Adds a stream, which is finished at once if the client was shut down.
    mutating func add<Element>(
        _ id: Int, to table: WritableKeyPath<Streams, StreamTable<Element>>, for topic: StreamTable<Element>.Topic,
        _ buffering: StreamBuffering
    ) {
        self[keyPath: table].add(id, for: topic, buffering)
        if isShutDown { self[keyPath: table].finish(id, nil) }
    }

    // MARK: Appending

    /// Appends a delivery to the streams it is for. For one that closures could hear, too, returns whether a stream took it.
    mutating func append(_ delivery: Delivery, _ decoder: EventDecoder?, at now: Instant) -> Bool {
        switch delivery {
        case .event(let envelope), .userEvent(let envelope):
            return append(PusherEvent(envelope: envelope, decoder: decoder), at: now)
        case .stateChanged(let old, let new, let reason):
            defer { if new == .disconnected, let reason { finish(reason) } }
            let change = ConnectionStateChange(old: old, new: new, reason: reason)
            _ = poolStates.append(change, of: nil, at: now)
            return states.append(change, of: nil, at: now)
        case .subscribed(let channel, let place):
            if let place { begin(channel, at: place) }
            update(channel, .subscribed, at: now)
        case .gap(let channel, let since):
            update(channel, .eventsMayBeMissing(EventGap(.reconnected) { [date] in date(since) }), at: since)
        case .recovered(let channel, let count): update(channel, .recovered(count: count), at: now)
        case .subscriptionFailed(let channel, let failure): update(channel, .subscriptionFailed(failure.error), at: now)
        case .memberAdded(let channel, let member):
            appendEvent(delivery, of: channel, decoder, at: now)
            update(channel, .memberAdded(PusherPresenceChannelMember(member)), at: now)
        case .memberRemoved(let channel, let member):
            appendEvent(delivery, of: channel, decoder, at: now)
            update(channel, .memberRemoved(PusherPresenceChannelMember(member)), at: now)
        case .subscriptionCount(let channel, let count): update(channel, .subscriptionCount(count), at: now)
        case .decryptionFailed(let channel, _, _, let since):
            update(channel, .eventsMayBeMissing(EventGap(.decryptionFailed) { [date] in date(since) }), at: since)
        case .signedIn, .signInFailed, .watchlist, .serverError, .report: break
        }
        return false
    }

    /// Appends the protocol's event for news that has an update of its own.
    private mutating func appendEvent(_ delivery: Delivery, of channel: Name, _ decoder: EventDecoder?, at now: Instant) {
        guard !events.isEmpty, let envelope = delivery.envelope else { return }
        _ = events.append(PusherEvent(envelope: envelope, decoder: decoder), of: channel, envelope.event, at: now)
    }

    private mutating func append(_ event: PusherEvent, at now: Instant) -> Bool {
        let (channel, name) = (event.envelope.channel, event.envelope.event)
        let isTaken = !events.isEmpty && events.append(event, of: channel, name, at: now)
        guard let channel, !updates.isEmpty || !poolUpdates.isEmpty, !ChannelUpdate.hasCase(forEvent: name) else {
            return isTaken
        }
        return update(channel, .event(event), at: now) || isTaken
    }

    /// Returns whether any stream took the update.
    @discardableResult
    private mutating func update(_ channel: Name, _ update: ChannelUpdate, at now: Instant) -> Bool {
        let isTaken = !poolUpdates.isEmpty && poolUpdates.append(PoolUpdate(channel, update), of: channel, at: now)
        return updates.append(update, of: channel, at: now) || isTaken
    }

    // MARK: Finishing

    /// Ends the streams that were not read in time, or lets them drop elements; returns their channels and names.
    mutating func pauseLimitReached() -> [(channel: Name?, name: String)] {
        events.pauseLimitReached() + updates.pauseLimitReached() + poolUpdates.pauseLimitReached() + states.pauseLimitReached()
    }

    /// Finishes the streams of a channel.
    mutating func finish(ofChannel channel: Name, _ failure: PusherError? = nil) {
        events.finish(ofChannel: channel, failure)
        updates.finish(ofChannel: channel, failure)
    }

    /// Finishes the streams when the client has ended, with an error or on request. Streams that are made later are for its next
    /// run.
    mutating func finish(_ failure: PusherError? = nil) {
        events.finish(failure)
        updates.finish(failure)
        poolUpdates.finish(failure)
        states.finish(failure)
    }

    /// Finishes the streams, and those made later, as the client has ended for good.
    mutating func shutDown() {
        isShutDown = true
        finish()
        poolStates.finish(nil)
    }

    /// Appends the closures that resume the readers that waited and have something to read now.
    mutating func takeWakeUps(into wakeUps: inout [() -> Void]) {
        events.takeWakeUps(into: &wakeUps)
        updates.takeWakeUps(into: &wakeUps)
        poolUpdates.takeWakeUps(into: &wakeUps)
        states.takeWakeUps(into: &wakeUps)
        poolStates.takeWakeUps(into: &wakeUps)
    }
}
