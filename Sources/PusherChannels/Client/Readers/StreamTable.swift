/// The streams of one kind, found by topic, so that only those an element is for are visited.
struct StreamTable<Element: Sendable>: Sendable {
    /// The channel and the event of a stream; nil stands for any.
    struct Topic: Sendable {
        var channel: Name?
        var event: Name?

        /// Returns the stream's name for errors and log lines; `kind` names its elements.
        func name(_ kind: String) -> String {
            let event = event.map { " named \($0.inLogLine)" } ?? ""
            let channel = channel.map { " of \($0.inLogLine)" } ?? ""
            return "the stream of \(kind)\(event)\(channel)"
        }
    }

    private struct ChannelStreams: Sendable {
        var ofEveryEvent: [Int] = []
        var byEvent: [Name: [Int]] = [:]
    }

    private var queues: [StreamID: StreamQueue<Element>] = [:]
    private var topics: [Int: Topic] = [:]
    private var ofEveryChannel: [Int] = []
    private var byChannel: [Name: ChannelStreams] = [:]
    /// The streams for the latest element, as most elements have the same topic as the one before.
    private var latest: (channel: Name?, event: Name?, ids: [Int])?
    /// Streams that have something for a reader that waits.
    private var touched: [Int] = []
    /// The number of streams the server has to wait for.
    private(set) var over = 0
    /// The number of elements that found no room.
    private(set) var dropped = 0
    /// The times since which nobody read what arrived on a channel, or on any (`nil`), because the streams for it have ended.
    private var unreadSince: [Name?: Instant] = [:]
    /// The word for the elements.
    private let kind: String
    private let size: @Sendable (Element) -> Int
    private let gapElement: (@Sendable (Instant) -> Element)?
    /// Returns the event that an element is; nil for others.
    private let event: @Sendable (Element) -> PusherEvent?
    /// Indicates whether it is to be known how far streams were read.
    var tracksReading = false

    init(
        of kind: String, size: @escaping @Sendable (Element) -> Int,
        event: @escaping @Sendable (Element) -> PusherEvent? = { _ in nil }, gapElement: (@Sendable (Instant) -> Element)? = nil
    ) {
        self.event = event
        self.kind = kind
        self.size = size
        self.gapElement = gapElement
    }

    var isEmpty: Bool { queues.isEmpty }

    /// The number of topics that have streams.
    var topicsKept: Int { topics.count + byChannel.count + ofEveryChannel.count + unreadSince.count }

    // MARK: Adding and finishing streams

    mutating func add(_ id: Int, for topic: Topic, _ buffering: StreamBuffering) {
        var queue = StreamQueue(buffering, size: size, event: event, gapElement: gapElement)
        // A stream of one event's name says nothing of the others.
        if tracksReading, topic.event == nil { queue.places = ReadPlaces() }
        queues[StreamID(number: id)] = queue
        topics[id] = topic
        changeIDs(of: topic) { $0.append(id) }
    }

    /// Removes a stream; returns its queue, for the caller to release, and its topic.
    mutating func remove(_ id: Int) -> (queue: StreamQueue<Element>, topic: Topic)? {
        guard let queue = queues.removeValue(forKey: StreamID(number: id)), let topic = topics.removeValue(forKey: id) else {
            return nil
        }
        changeIDs(of: topic) { $0.removeAll { $0 == id } }
        if queue.isOver { over -= 1 }
        return (queue, topic)
    }

    /// Notes that nobody read what has arrived since a time, for the next stream of the channel.
    mutating func noteUnread(of channel: Name?, since time: Instant) {
        unreadSince[channel] = min(unreadSince[channel] ?? time, time)
    }

    /// Returns the time since which nobody read what arrived, and forgets it; nil if there is no such time.
    mutating func takeUnreadSince(of channel: Name?) -> Instant? {
        var since = unreadSince.removeValue(forKey: channel)
        // A program that puts a stream in the place of another one has both for a moment.
        for id in channel.flatMap({ byChannel[$0]?.ofEveryEvent }) ?? [] {
            if let time = change(id, { $0.tell() }), let time { since = min(since ?? time, time) }
        }
        return since
    }

    /// Changes the list of streams for a topic. Nothing is kept for a channel whose streams are gone: an application may have a
    /// channel for each of its calls or orders.
    private mutating func changeIDs(of topic: Topic, _ body: (inout [Int]) -> Void) {
        latest = nil
        guard let channel = topic.channel else { return body(&ofEveryChannel) }
        var streams = byChannel.removeValue(forKey: channel) ?? ChannelStreams()
        if let event = topic.event {
            body(&streams.byEvent[event, default: []])
            if streams.byEvent[event]?.isEmpty == true { streams.byEvent[event] = nil }
        } else {
            body(&streams.ofEveryEvent)
        }
        if !streams.ofEveryEvent.isEmpty || !streams.byEvent.isEmpty { byChannel[channel] = streams }
    }

    mutating func finish(_ failure: PusherError?) {
        for id in queues.keys { finish(id.number, failure) }
    }

    mutating func finish(ofChannel channel: Name, _ failure: PusherError?) {
        guard let streams = byChannel[channel] else { return }
        for id in streams.ofEveryEvent + streams.byEvent.values.joined() { finish(id, failure) }
    }

    mutating func finish(_ id: Int, _ failure: PusherError?) {
        change(id) { $0.finish(failure) }
    }

    // MARK: Appending

    /// Appends an element to the streams it is for; returns whether there are any.
    mutating func append(_ element: Element, of channel: Name?, _ event: Name? = nil, at now: Instant) -> Bool {
        let ids = ids(of: channel, event)
        for id in ids { change(id) { $0.append(element, at: now) } }
        return !ids.isEmpty
    }

    private mutating func ids(of channel: Name?, _ event: Name?) -> [Int] {
        if let latest, latest.event == event, latest.channel == channel { return latest.ids }
        var ids = ofEveryChannel
        if let channel, let streams = byChannel[channel] {
            ids += streams.ofEveryEvent
            if let event, let named = streams.byEvent[event] { ids += named }
        }
        latest = (channel, event, ids)
        return ids
    }

    /// Ends the streams that were not read in time, or lets them drop elements; returns their channels and names.
    mutating func pauseLimitReached() -> [(channel: Name?, name: String)] {
        queues.keys.map(\.number).sorted().compactMap { id in
            guard queues[StreamID(number: id)]?.isOver == true, let topic = topics[id] else { return nil }
            let name = topic.name(kind)
            return change(id) { $0.pauseLimitReached(name) } == true ? (topic.channel, name) : nil
        }
    }

    // MARK: Reading

    /// The places up to which each stream was read.
    var places: [ReadPlaces] { queues.values.compactMap(\.places) }

    /// Changes the places of the streams that have all events of a channel.
    mutating func changePlaces(of channel: Name, ifFinished: Bool = false, _ body: (inout ReadPlaces) -> Void) {
        for id in ofEveryChannel + (byChannel[channel]?.ofEveryEvent ?? []) {
            change(id) { queue in
                if var places = queue.places.take() {
                    if queue.isFinished || !ifFinished { body(&places) }
                    queue.places = places
                }
            }
        }
    }

    func read<Result>(_ id: Int, _ body: (StreamQueue<Element>) -> Result) -> Result? {
        queues[StreamID(number: id)].map(body)
    }

    @discardableResult
    mutating func change<Result>(_ id: Int, _ body: (inout StreamQueue<Element>) -> Result) -> Result? {
        guard let index = queues.index(forKey: StreamID(number: id)) else { return nil }
        let (result, difference, drops, hasWakeUps) = Self.change(&queues.values[index], body)
        over += difference
        dropped += drops
        if hasWakeUps, touched.last != id { touched.append(id) }
        return result
    }

    /// Changes a queue in place: copying it would cost more than everything else here.
    private static func change<Result>(
        _ queue: inout StreamQueue<Element>, _ body: (inout StreamQueue<Element>) -> Result
    ) -> (result: Result, difference: Int, drops: Int, hasWakeUps: Bool) {
        let (wasOver, dropped) = (queue.isOver, queue.dropped)
        let result = body(&queue)
        let difference = (queue.isOver ? 1 : 0) - (wasOver ? 1 : 0)
        return (result, difference, queue.dropped - dropped, queue.hasWakeUps)
    }

    /// Appends the closures that resume the readers that waited and have something to read now.
    @inline(__always)
    mutating func takeWakeUps(into wakeUps: inout [() -> Void]) {
        if !touched.isEmpty { takeSomeWakeUps(into: &wakeUps) }
    }

    private mutating func takeSomeWakeUps(into wakeUps: inout [() -> Void]) {
        // By index: while the list is iterated over, emptying it would make a new one.
        for index in touched.indices {
            change(touched[index]) { queue in
                while let (reader, batch) = queue.wakeUp() { wakeUps.append { reader(batch) } }
            }
        }
        touched.removeAll(keepingCapacity: true)
    }
}

/// The number of a stream as a key. Only the client chooses it, so a hash that withstands chosen numbers would be wasted on it.
private struct StreamID: Hashable {
    let number: Int

    func _rawHashValue(seed: Int) -> Int {
        Int(bitPattern: UInt(bitPattern: number ^ seed) &* 0x9E37_79B9_7F4A_7C15 >> 32)
    }
}
