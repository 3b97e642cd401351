@testable import PusherChannels

/// Checks everything the client delivers for results that must never occur.
struct Oracle {
    private struct Watch {
        var latest: Int?
        /// The beginning of an announced gap; while it is set, the next number may be any later one.
        var gap: Instant?
        var isBeginning = true
    }

    private(set) var problem: String?
    var triggered: Set<String> = []
    private var passedOn: Set<String> = []
    private var watches: [Name: Watch] = [:]
    /// What a client of Sockudo's protocol V2 heard; nil on protocol 7.
    var replays: ReplayOracle?
    private var times: [Name: [Int: Instant]] = [:]
    private(set) var delivered: [Name: Int] = [:]
    private(set) var gapsAnnounced = 0

    mutating func fail(_ problem: String) {
        if self.problem == nil { self.problem = problem }
    }

    mutating func published(_ number: Int, on channel: Name, at time: Instant) {
        times[channel, default: [:]][number] = time
    }

    mutating func userLeft(_ channel: Name) {
        watches[channel] = Watch(latest: watches[channel]?.latest)
        settleReplays(of: channel, isOver: false)
    }

    mutating func serverPassedOn(_ event: String) {
        if !triggered.contains(event) { fail("nobody triggered \(event)") }
        if !passedOn.insert(event).inserted { fail("\(event) was sent twice") }
    }

    mutating func hear(_ delivery: Delivery, at now: Instant, wanted: Set<Name>) {
        switch delivery {
        case .event(let envelope) where envelope.event == "number":
            guard let channel = envelope.channel, let number = envelope.data.flatMap({ Int($0) }) else {
                return fail("an event is not what was published: \(envelope)")
            }
            if replays != nil { hearReplayed(number, envelope, of: channel) }
            hear(number, on: channel, isWanted: wanted.contains(channel))
        case .gap(let channel, let since):
            gapsAnnounced += 1
            replays?.gaps[channel, default: []].append((since, now))
            // A second gap may be announced before any event ends the first one.
            let earliest = watches[channel]?.gap.map { min($0, since) } ?? since
            watches[channel, default: Watch()].gap = earliest
        case .recovered(_, let count): replays?.count += count
        case .subscriptionFailed(let channel, let failure) where failure.error.kind == .subscriptionRefused:
            fail("the server was asked for \(channel) with a signature that is not for this connection")
        case .serverError(let error) where error.code == 4009, .report(let error) where error.code == 4009:
            fail("the server was asked with a signature that is not for this connection")
        case .decryptionFailed(let channel, _, _, _):
            fail("an event of \(channel) could not be opened")
        default:
            break
        }
    }

    private mutating func hear(_ number: Int, on channel: Name, isWanted: Bool) {
        var watch = watches[channel] ?? Watch()
        defer { watches[channel] = watch }
        delivered[channel, default: 0] += 1
        if !isWanted { fail("an event of \(channel), which nobody wants") }
        if times[channel]?[number] == nil { fail("\(number) on \(channel) was never published") }
        if replays != nil { return watch = Watch(latest: number, isBeginning: false) }
        if let latest = watch.latest, number <= latest {
            // A cache channel sends its cached event with each subscription.
            let isReplay = channel.begins(with: "cache-") && number == latest && (watch.gap != nil || watch.isBeginning)
            if !isReplay { fail("\(number) on \(channel) after \(latest)") }
        } else if let latest = watch.latest, number > latest + 1, !watch.isBeginning {
            guard let since = watch.gap else { return fail("\(latest + 1) on \(channel) is missing without a word") }
            let missed = times[channel]?[latest + 1] ?? .origin
            if missed < since - Simulation.longestDelay {
                fail("\(latest + 1) on \(channel) is missing since \(missed), but the gap began at \(since)")
            }
        }
        watch = Watch(latest: number, isBeginning: false)
    }
}

/// What a client heard whose server replays what it missed. Nothing is missing outside an announced gap, and nothing comes twice.
struct ReplayOracle {
    fileprivate var heard: [Name: Set<Int>] = [:]
    fileprivate var latest: [Name: Int] = [:]
    fileprivate(set) var gaps: [Name: [(since: Instant, told: Instant)]] = [:]
    /// Indicates whether events come in the order in which they were published, as long as there is no gap.
    let isOrdered: Bool
    /// Indicates whether events may be lost silently, and late ones may come once nothing goes wrong any more.
    let mayLose: Bool
    /// The number of events that were lost silently.
    fileprivate(set) var lost = 0
    /// The number of events that were replayed.
    fileprivate(set) var count = 0

    init(isOrdered: Bool, mayLose: Bool) {
        (self.isOrdered, self.mayLose) = (isOrdered, mayLose)
    }
}

extension Oracle {
    fileprivate mutating func hearReplayed(_ number: Int, _ envelope: Envelope, of channel: Name) {
        // A cache channel sends its cached event, which has no position, with each subscription.
        guard envelope.position != nil else { return }
        if replays?.heard[channel, default: []].insert(number).inserted == false {
            return fail("\(number) on \(channel) came twice")
        }
        let isLate = number < replays?.latest[channel] ?? 0
        if isLate, replays?.isOrdered == true, replays?.gaps[channel] == nil { fail("\(number) on \(channel) came late") }
        if !isLate { replays?.latest[channel] = number }
    }

    /// Checks what was missed on a channel since it was subscribed, and begins anew.
    ///
    /// - Parameter isOver: Indicates whether the client had the time to read late events from the history.
    mutating func settleReplays(of channel: Name, isOver: Bool) {
        guard let heard = replays?.heard.removeValue(forKey: channel), let first = heard.min(), let last = heard.max() else {
            return
        }
        let gaps = replays?.gaps.removeValue(forKey: channel) ?? []
        replays?.latest[channel] = nil
        guard isOver || replays?.isOrdered == true else { return }
        for number in first...last where !heard.contains(number) {
            let time = times[channel]?[number] ?? .origin
            // A server that isn't asked for a replay may take a connection in only after its success.
            let isTold = gaps.contains { $0.since - Simulation.longestDelay <= time && time <= $0.told + .milliseconds(100) }
            guard !isTold else { continue }
            guard replays?.mayLose != true else {
                replays?.lost += 1
                continue
            }
            fail("\(number) on \(channel) of \(time) is missing without a word; gaps: \(gaps)")
        }
    }
}
