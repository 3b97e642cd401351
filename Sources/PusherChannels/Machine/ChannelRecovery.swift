/// A channel's place in its stream on a Sockudo server, and the events that wait until what it missed is replayed.
struct ChannelRecovery: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        /// Events go to the application as they come.
        case live
        /// Waits for its turn to ask for a replay; as in the phases that follow, events are held.
        case waiting
        case resuming
        /// The server refused a replay that it may not refuse next time.
        case retrying
        /// Reads the channel's history, which reaches further back than replays.
        case paging
        /// Gets the past events that it asked for with the first subscription; only what came meanwhile is held.
        case rewinding
    }

    /// What a subscription's success says of the channel's place.
    struct Head: Equatable, Sendable {
        let position: StreamPosition
        /// The head of the history; nil if the server keeps none.
        let attachSerial: Int?

        var isOfEmptyChannel: Bool { position.serial == 0 && attachSerial == 0 }
    }

    private(set) var phase = Phase.live
    /// The step whose deadline counts.
    var step = 0
    private var window: SerialWindow?
    /// The windows of other streams whose events came: several servers that share no history count each by itself.
    private var otherWindows: [SerialWindow] = []
    /// Indicates whether the window's position can be asked for. It can't once a gap was told because of it.
    private var isUsable = false
    /// Indicates whether the position is that of an empty channel, whose stream has no name yet, and all of whose events are news.
    private var isUnnamed = false
    /// Indicates whether the position was stored by an earlier process, whose readers may have taken later events, but not all.
    private var isStored = false
    private var head: Head?
    /// Indicates whether the server hides some events: a hole says nothing then, and the history would bring them.
    private var isFiltered = false
    /// Indicates whether events of several streams came: then several servers publish, and each replays only its own.
    private var isSpread = false
    private var ownEvents = OwnEvents()
    /// What is held, but for what the history brought meanwhile.
    private var held: [Envelope?] = []
    /// Where the serials of the success's stream are in it, and the highest of them.
    private var heldIndices: [Int: Int] = [:]
    private var heldUpTo = 0
    /// The bytes of what is held, with the success that waits to be told: its list of members may be long.
    private(set) var heldBytes = 0
    /// The time since which events are missing unless they are replayed; nil if none are.
    private var gapSince: Instant?
    /// Indicates whether the application is to hear that what it missed was replayed.
    private var isReconnect = false  // not a mutant: each success sets it
    /// What is to be told once it is known whether events are missing.
    private var news: [Output] = []
    private var attempts = 0
    private var count = 0
    /// How often the history was read since the success, and the serial up to which.
    private(set) var reads = 0
    private var readUpTo = 0
    /// The serials that are asked for in the history, or will be.
    private(set) var asked: ClosedRange<Int>?
    /// What was missing when that was last looked at.
    private(set) var missing: MissingSerials?

    init() {}

    /// Creates the state of a channel of whose stream the application has what came up to a position.
    init(after position: StreamPosition) {
        window = SerialWindow(after: position)
        (isUsable, isStored) = (true, true)
    }

    var isLive: Bool { phase == .live }

    var hasHistory: Bool { head?.attachSerial != nil }

    // MARK: Subscribing

    /// Notes a success; returns what can be told now. The channel may be waiting for a replay then.
    ///
    /// - Parameters:
    ///   - news: What protocol 7 tells of the success.
    ///   - heard: The time up to which everything that arrived is known to have been heard.
    mutating func succeeded(
        _ head: Head?, _ news: [Output], _ options: SubscriptionOptions?, of channel: Name, receivedUpTo heard: Instant
    ) -> [Output] {
        (self.head, isFiltered) = (head, options?.filter != nil)
        (attempts, count, reads, readUpTo, asked, step) = (0, 0, 0, 0, nil, 0)
        if window?.misses != true { missing = nil }
        let lost = gapSince.take() ?? news.lazy.compactMap(\.gapSince).first
        let since = lost.map { min($0, missing?.since ?? $0) }
        let rest = news.filter { $0.gapSince == nil }
        isReconnect = since != nil
        if isReconnect, head != nil, isUsable, !isSpread {
            (phase, gapSince) = (.waiting, since)
            // The name of an empty channel's stream isn't that of its first events.
            if window?.highest == 0, isUnnamed || isStored && hasHistory {
                enter(head?.position.start)
                isUnnamed = head?.isOfEmptyChannel == true
            }
            self.news = rest.filter { !$0.isAboutMembers }.map { $0.from(readPlace) }
            heldBytes = self.news.reduce(0) { $0 + $1.heldSize }
            return rest.filter(\.isAboutMembers)
        }
        (isUsable, isStored, missing) = (head != nil, false, nil)
        enter(head?.position)
        isUnnamed = head?.isOfEmptyChannel == true
        isReconnect = false
        if head != nil, options?.rewind != nil { (phase, gapSince) = (.rewinding, heard) }
        // Without a history, events between the success and the server's taking the channel in come only on request.
        if head != nil, isLive, !hasHistory, !isSpread { (phase, gapSince) = (.waiting, heard) }
        return (since.map { [.deliver(.gap(channel: channel, since: $0))] } ?? []) + rest.map { $0.from(readPlace) }
    }

    /// The place after which events are asked for.
    var request: StreamPosition? {
        guard isUsable, let window else { return nil }
        return storedPosition ?? window.position
    }

    /// The place that an earlier process stored, until what came after it is replayed.
    var storedPosition: StreamPosition? { isStored ? window?.position(mayMiss: true) : nil }

    /// The place from which a new stream reads.
    var readPlace: ReadPlace {
        // What comes of the past is read from its first event on.
        ReadPlace(phase == .rewinding ? nil : window, mayMiss: isStored || hasHistory && !isFiltered)
    }

    /// The number of events that a replay will have, as far as can be told; nil if the channel doesn't wait for one. A stream with
    /// another name counts differently, and is the server's to judge.
    var expected: Int? {
        // One that waits has both.
        guard phase == .waiting, let head, let request else { return nil }
        let missed = max(max(head.position.serial, heldUpTo) - request.serial, 0)
        return request.stream == head.position.stream ? missed : min(missed, Recovery.replayLimit - 1)
    }

    mutating func begin(_ phase: Phase) {
        self.phase = phase
        if phase == .paging { asked = page }
    }

    /// Changes it in place.
    mutating func change<Result>(_ body: (inout Self) -> Result) -> Result { body(&self) }

    // MARK: Events

    /// Notes a client event of this client. The server numbers it and doesn't send it back, but the history has it.
    mutating func sent(_ event: Envelope) {
        if hasHistory { ownEvents.remember(event) }
    }

    /// Decides about an event that came, and keeps it if it is to be held.
    mutating func receive(_ envelope: Envelope) -> Verdict {
        let position = envelope.position
        if let position, let head, head.attachSerial == nil, position.stream != head.position.stream { isSpread = true }
        if phase == .rewinding, let window, position.map({ $0.stream == window.stream && $0.serial <= window.highest }) ?? true {
            // The past may go further back than the window, which expects what follows the success.
            return position.flatMap { self.window?.insert($0.serial) } == .seen ? .drop : .give
        }
        guard isLive || position == nil && envelope.event.begins(with: "pusher:") else {
            if let position, position.stream == head?.position.stream {
                if heldIndices[position.serial] != nil || window?.has(position) == true { return .drop }
                heldIndices[position.serial] = held.count
                heldUpTo = max(heldUpTo, position.serial)
            }
            held.append(envelope)
            heldBytes += envelope.heldSize
            return .hold
        }
        return take(position)
    }

    /// Goes over to a stream, whose events count after this place. Those that came before it are still known.
    private mutating func enter(_ place: StreamPosition?) {
        var known = otherWindows.first { $0.stream == place?.stream }
        if let window, let place, window.stream == place.stream, window.highest <= place.serial { known = window }
        otherWindows = otherWindows.filter { $0.stream != place?.stream }.suffix(2)
        if let window, window.stream != place?.stream { otherWindows.append(window) }
        window = place.map { place in
            var entered = known ?? SerialWindow(after: place)
            entered.advance(to: place.serial)
            entered.settle()
            return entered
        }
    }

    /// Notes an event's place, and returns whether it is news.
    private mutating func take(_ position: StreamPosition?) -> Verdict {
        guard let position, head != nil else { return .give }
        if window?.stream != position.stream {
            noteHole()
            enter(isUnnamed && ownEvents.isEmpty ? position.start : position.before)
            isUsable = true
        }
        isUnnamed = false
        // Whatever was missing before it was told.
        if let window, position.serial > window.highest { isUsable = true }
        switch window?.insert(position.serial) {
        case .seen: return .drop
        // Serials that go back make no sense, so nothing is asked for because of them.
        case .behind: isUsable = false
        case .new, nil: break
        }
        return .give
    }

    /// Takes an event of a page of history; nil if the page isn't one of this stream.
    mutating func takeOld(_ envelope: Envelope) -> Verdict? {
        guard let position = envelope.position, let window, position.stream == window.stream else { return nil }
        // Their gap was told, and which of them came isn't known any more.
        if window.isOutOfSight(position.serial) { return .drop }
        let verdict = take(position)
        if verdict == .give, isLive, ownEvents.take(envelope) { return .drop }
        guard verdict == .give, phase == .paging else { return verdict }
        count += 1
        if let index = heldIndices.removeValue(forKey: position.serial) {
            heldBytes -= held[index]?.heldSize ?? 0
            held[index] = nil
        }
        return .give
    }

    private mutating func takeHeld() -> [Envelope] {
        defer { (self.held, heldIndices, heldBytes, heldUpTo) = ([], [:], 0, 0) }
        let held = held.compactMap(\.self)
        var streams: [Name: Int] = [:]
        let keys = held.enumerated().map { index, envelope in
            // not a mutant: any number, as these keep their order
            guard let position = envelope.position else { return (Int.max, 0, index) }
            let stream = streams[position.stream] ?? streams.count
            streams[position.stream] = stream
            return (stream, position.serial, index)
        }
        return keys.sorted(by: <).map { held[$0.2] }
    }

    // MARK: Ends

    /// Ends a replay that has all events up to a place; nil if there were none.
    mutating func replayed(upTo place: StreamPosition?, of channel: Name) -> End {
        if isSpread, isReconnect { return missed(channel) }
        var end = End()
        for envelope in takeHeld() {
            let position = envelope.position
            guard take(position) == .give else { continue }
            if let position, let place, position.stream == place.stream, position.serial <= place.serial {
                end.replayed.append(envelope)
            } else {
                end.later.append(envelope)
            }
        }
        // What the server hid before that place needs no replay.
        if isFiltered, let place, place.stream == window?.stream { window?.advance(to: place.serial) }
        // A store that is behind what was sent doesn't have the last ones yet.
        if isReconnect, hasHistory, !isFiltered, let head, head.position.stream == window?.stream {
            window?.advance(to: head.position.serial)
        }
        noteHole()
        count += end.replayed.count
        if isReconnect { end.news = [.deliver(.recovered(channel: channel, count: count))] + news }
        settle()
        return end
    }

    /// Gives the replay up: events may be missing. The position is unknown then, and the success's takes its place unless that
    /// was asked for.
    mutating func missed(_ channel: Name) -> End {
        let asked = request
        var end = End(before: gapSince.map { [.deliver(.gap(channel: channel, since: $0))] } ?? [], news: news)
        isUsable = false
        let before = window?.position
        end.later = takeHeld().filter { take($0.position) == .give }
        // The stream of the events counts, if it is another one than the success names.
        if let head, window?.stream == head.position.stream || window?.position == before {
            if window?.stream != head.position.stream { enter(head.position) }
            window?.advance(to: head.position.serial)
        }
        window?.settle()
        (isUsable, missing) = (window?.position != asked, nil)
        settle()
        return end
    }

    private mutating func settle() {
        (phase, gapSince, news, attempts, isReconnect, asked, isStored) = (.live, nil, [], 0, false, nil, false)
    }

    /// Notes that the server can't replay now; returns the time after which it may, or nil if it won't.
    mutating func refused(_ failure: ResumeAnswer.Failure) -> Duration? {
        let (delay, limit): (Duration, Int) =
            if failure.names("continuity_unverifiable"), hasHistory {
                (.milliseconds(300), 5)
            } else if failure.names("position_expired") && !hasHistory
                || failure.names("version_stream_id_mismatch") && failure.currentStream == nil
            {
                (.milliseconds(100), 1)
            } else {
                (.zero, 0)
            }
        guard attempts < limit else { return nil }
        attempts += 1
        phase = .retrying
        return delay
    }

    /// The serials to read from the history in place of a replay, from the first that is missing; nil if it was read, or can't have
    /// them. What came while it was read may be too much for a replay again, and a server that goes on so would never be caught up.
    var page: ClosedRange<Int>? {
        guard !isFiltered, reads < 4, let head, let attach = head.attachSerial, let request,
            request.stream == head.position.stream
        else { return nil }
        let before = max(window?.lowestMissing.map { $0 - 1 } ?? request.serial, readUpTo)
        let last = before < attach ? attach : heldUpTo
        return before < last ? before + 1...last : nil
    }

    /// Notes how far a page goes; returns whether it goes further than those before, so that its next one may, too.
    mutating func goesOn(to serial: Int?) -> Bool {
        guard let serial, serial > readUpTo else { return false }
        readUpTo = serial
        return true
    }

    /// Indicates whether the history has come up to the last serial that was asked for, which it has unless it is behind or was reset.
    var isRead: Bool { readUpTo >= asked?.upperBound ?? 0 }

    /// Notes that the history was read: the rest is asked for as after any success.
    mutating func hasRead() {
        readUpTo = max(readUpTo, asked?.upperBound ?? 0)
        filled()
        (reads, phase, step) = (reads + 1, .waiting, 0)
    }

    /// Notes that a replay left something out, which was lost when the connection was.
    private mutating func noteHole() {
        guard missing == nil, let gapSince, let window, window.misses else { return }
        missing = MissingSerials(stream: window.stream, since: gapSince, othersSince: gapSince)
    }

    /// Notes the loss of the connection or of the subscription. What is held is replayed next time.
    mutating func lost() {
        // No server sends the rest of the past to the next connection.
        if phase == .rewinding { isUsable = false }
        (phase, news, held, heldIndices, heldBytes, heldUpTo) = (.live, [], [], [:], 0, 0)
        (ownEvents, asked, step) = (OwnEvents(), nil, 0)
    }

    // MARK: Missing events

    /// Returns since when serials are missing that can't be asked for, as they are too far back or of another stream; nil if none are.
    mutating func losesSight(receivedUpTo heard: Instant) -> Instant? {
        guard isLive, hasHistory, !isFiltered else { return nil }
        let isOfAnother = missing.map { $0.stream != window?.stream } ?? false
        guard isOfAnother || window?.settleOutOfSight() == true else { return nil }
        asked = nil
        return missing.take()?.since ?? heard
    }

    /// Returns whether serials are missing that were not asked for yet, and will be unless they come.
    mutating func misses(receivedUpTo heard: Instant) -> Bool {
        guard asked == nil, isLive else { return false }
        guard hasHistory, !isFiltered, let window, let lowest = window.lowestMissing else {
            missing = nil
            return false
        }
        missing = MissingSerials(stream: window.stream, since: missing?.since ?? heard, othersSince: heard)
        (asked, readUpTo, attempts) = (lowest...window.highest, 0, 0)
        return true
    }

    /// Leaves out what came meanwhile; returns whether any are still missing.
    mutating func stillMisses() -> Bool {
        guard let last = asked?.upperBound, let lowest = window?.lowestMissing, lowest <= last else {
            filled()
            return false
        }
        asked = lowest...last
        return true
    }

    /// Returns whether a history that doesn't have them yet, as it is behind what was sent, is to be asked again.
    mutating func asksAgain() -> Bool {
        (readUpTo, attempts) = (0, attempts + 1)
        return attempts <= 5 && stillMisses()
    }

    /// Stops missing what was asked for.
    mutating func filled() {
        if let asked = asked.take() { window?.settle(upTo: asked.upperBound) }
        if isLive, let since = missing?.othersSince { missing?.since = since }
    }
}
