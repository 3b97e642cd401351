import PusherChannels

extension ServerProfile {
    /// Sockudo's protocol V2, for connections that ask for it with `protocol=2`: which of it is switched on, and the server's own
    /// faults, which are all switched off.
    public struct SockudoV2: Equatable, Sendable {
        /// Indicates whether what a connection missed is replayed (`connection_recovery.enabled`).
        public var replays = true
        /// The largest number of events of a channel that are replayed (`max_buffer_size`).
        public var bufferLength = 100
        /// The time for which events are replayed (`buffer_ttl_seconds`).
        public var bufferLifetime: Duration = .seconds(120)
        /// The number of events of each channel that the history keeps; nil if there is none (`history.enabled`).
        public var historyLength: Int?
        /// The time for which the history keeps an event (its retention).
        public var historyLifetime: Duration = .seconds(86_400)
        /// The largest number of events in a page of history.
        public var pageLength = 100
        /// Indicates whether subscriptions may begin with the past (`rewind_enabled`), if there is a history.
        public var rewinds = true
        /// Indicates whether channels are replayed to which the connection isn't subscribed, as the real server does.
        public var replaysUnsubscribed = false
        /// The number of nodes. With a history they share it; without one, each has streams of its own. A connection is on the node
        /// that its number gives; each event is published on any.
        public var nodes = 1
        /// The time that a replay takes.
        public var answerDelay: Duration = .zero
        /// The time after which a connection that sends nothing is sent a ping frame; nil if none is. One that doesn't answer is closed
        /// after the profile's ``ServerProfile/pongTimeout``.
        public var pingInterval: Duration? = .seconds(60)

        // MARK: Faults

        /// The number of frames at which an answer ends the connection instead. The real server's is 1,000.
        public var maximumFrames = 1_000
        /// The time after a success in which a connection gets no events of the channel, unless there is a history.
        public var joinDelay: Duration = .zero
        /// The time after which a connection that gets a channel's events is sent the success.
        public var successDelay: Duration = .zero
        /// Indicates whether replays can't be read from the history (`persistence_unavailable`), as while its store is down; its pages can.
        public var losesHistory = false
        /// The percentage of replays that are refused although nothing is missing.
        public var refusedReplays = 0
        /// Indicates whether events that come while a replay is being made are sent before it, and again after it.
        public var sendsLiveEventsTwice = false
        /// Indicates whether a success names another stream than the events do, as with versioned messages.
        public var namesOtherStreams = false
        /// The percentage of events that reach a connection after the one that follows, as with two nodes.
        public var swappedEvents = 0

        /// The time after which the other nodes see an event in the shared history, which they heard before.
        public var storeDelay: Duration = .zero

        /// Creates the settings: replays without a history, and no fault.
        public init() {}
    }

    /// Sockudo with its protocol V2, as observed, with a history. Clients of Pusher's protocol are served as by ``sockudo``.
    public static let sockudoV2 = sockudo.with {
        $0.protocolVersions = 2...7
        $0.shutdown = Shutdown(code: 4200, reason: "Server shutting down", isAnnounced: true)
        var settings = SockudoV2()
        settings.historyLength = 10_000
        $0.sockudoV2 = settings
    }
}

/// The events of a channel as a Sockudo server numbers and keeps them.
struct SockudoStream: Sendable {
    struct Entry: Sendable {
        let serial: Int
        let frame: String
        /// The frame for connections of protocol 7, without a position.
        let plain: String
        let event: SockudoEvent
        let messageID: String
        let time: Instant
        let node: Int
    }

    let id: String
    /// Indicates whether a node keeps what was published last, as it does from the first event or subscription on.
    var isBuffered = false
    private(set) var head = 0
    private(set) var entries: ArraySlice<Entry> = []

    init(id: String) {
        self.id = id
    }

    mutating func append(_ entry: Entry, _ settings: ServerProfile.SockudoV2) {
        head = entry.serial
        isBuffered = true
        entries.append(entry)
        let excess = entries.count - max(settings.bufferLength, settings.historyLength ?? 0)
        if excess > 0 { entries.removeFirst(excess) }
    }
}

/// A channel's stream as a node knows it: the events that it published itself, and those that are in the history by now.
struct SockudoView {
    typealias Entry = SockudoStream.Entry

    let stream: SockudoStream
    let node: Int
    let now: Instant
    let settings: ServerProfile.SockudoV2

    /// The events that the history has.
    var stored: ArraySlice<Entry> {
        let kept = stream.entries.drop { $0.time + settings.historyLifetime <= now }
        return settings.storeDelay > .zero ? kept.prefix { $0.time + settings.storeDelay <= now } : kept
    }

    var storedHead: Int {
        let stored = stream.entries.last { $0.time + settings.storeDelay <= now }
        return stored?.serial ?? stream.entries.first.map { $0.serial - 1 } ?? stream.head
    }

    /// The first serial that the history has, or will have.
    var oldestStored: Int { stored.first?.serial ?? storedHead + 1 }

    var head: Int { max(storedHead, stream.entries.last { $0.node == node }?.serial ?? 0) }

    /// Returns what the node itself has after a serial, if that is all that was published since.
    func buffered(after serial: Int) -> [Entry]? {
        guard stream.isBuffered, serial <= head, head - serial <= settings.bufferLength else { return nil }
        let own = stream.entries.filter { $0.node == node && $0.serial > serial && $0.time + settings.bufferLifetime > now }
        return own.count == head - serial ? own : nil
    }
}

/// An event as filters see it.
struct SockudoEvent: Sendable {
    /// What is published besides, and sent on protocol V2 only.
    struct More: Sendable {
        var tags: JSONValue?
        var extras: JSONValue?

        /// Indicates whether the event gets no serial, and isn't kept.
        var isEphemeral: Bool { extras?["ephemeral"]?.boolValue == true }
    }

    let name: String
    var more = More()
}

/// What a connection of protocol V2 has besides that of protocol 7.
struct SockudoConnection: Sendable {
    /// The place in a channel's stream after which a replay is asked for.
    struct Position: Equatable, Sendable {
        let serial: Int
        let stream: String?
        /// Indicates whether it is asked for in the old form, which only a node's buffer answers.
        let isOld: Bool
    }

    /// An answer to a replay that is being made.
    struct Resume: Sendable {
        let due: Instant
        let positions: [Name: Position]
    }

    let getsOwnEvents: Bool
    /// What the subscriptions asked for besides their channels.
    var options: [Name: SockudoOptions] = [:]
    var resumes: [Resume] = []
    /// The places after which events of a channel were replayed since its success.
    var replayed: [Name: Position] = [:]
    /// The live events that wait until a replay is sent.
    var gate: [(serial: Int, frame: String)] = []
    /// The times from which on the connection gets the events of a channel.
    var joins: [Name: Instant] = [:]
    /// An event that is sent after the next one.
    var swapped: [Name: (frame: String, due: Instant)] = [:]
    /// The channels whose success is still to be sent.
    var successes: [Name: Instant] = [:]

    var deadline: Instant? { (resumes.map(\.due) + swapped.values.map(\.due) + successes.values).min() }
}

/// The publishes that a server knows again by their keys.
struct PublishKeys: Sendable {
    /// The answers; nil if the publish failed, and so seems to be under way.
    private var answers = ExpiringValues<JSONValue?>()

    /// Returns the answer that a key had, if there was one.
    fileprivate func answer(
        _ key: ServerMachine.ChannelKey, isBatch: Bool, at now: Instant
    ) throws(HTTPRefusal) -> JSONValue? {
        guard let entry = answers.entry(of: key, at: now) else { return nil }
        if let answer = entry.value { return answer }
        throw HTTPRefusal(
            occasion: .publishUnderWay, status: 503,
            reason: "Idempotent \(isBatch ? "batch " : "")publish is still in progress", retryAfter: 1)
    }

    fileprivate mutating func keep(_ answer: JSONValue?, _ key: ServerMachine.ChannelKey, for time: Duration, at now: Instant) {
        answers.keep(answer, of: key, until: now + time, at: now)
    }
}

extension ServerMachine {
    /// Checks a publish's key, if the server reads any.
    func checkPublishKey(_ text: String?) throws(HTTPRefusal) {
        guard profile.publishKeyLifetime != nil, let text, text.isEmpty || text.utf8.count > 128 else { return }
        let problem = text.isEmpty ? "must not be empty" : "exceeds maximum length of 128 characters"
        throw HTTPRefusal(occasion: .publishKey, status: 400, reason: "Idempotency key " + problem)
    }

    /// Carries out a publish, unless its key says that this was done. A batch's own key is another than an event's of the same text.
    mutating func once(
        _ text: String?, isBatch: Bool = false, app: ServerApp,
        _ publish: (inout ServerMachine) throws(HTTPRefusal) -> JSONValue
    ) throws(HTTPRefusal) -> JSONValue {
        guard let lifetime = profile.publishKeyLifetime, let text else { return try publish(&self) }
        try checkPublishKey(text)
        let key = ChannelKey(appKey: app.key, name: Name((isBatch ? "batch:" : "event:") + text))
        if let known = try publishKeys.answer(key, isBatch: isBatch, at: now) { return known }
        publishKeys.keep(nil, key, for: .seconds(120), at: now)
        let answer = try publish(&self)
        publishKeys.keep(answer, key, for: lifetime, at: now)
        return answer
    }
}
