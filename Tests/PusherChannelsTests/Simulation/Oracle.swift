@testable import PusherChannels

/// Checks everything the client delivers for results that must never occur.
struct Oracle {
    private struct Watch {
        var latest: Int?
        /// The beginning of an announced gap; while it is set, the next number may be any later one.
        var gap: Instant?
        var isBeginning = true
    }

    /// The first problem found.
    private(set) var problem: String?
    var triggered: Set<String> = []
    private var passedOn: Set<String> = []
    private var watches: [Name: Watch] = [:]
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
            hear(number, on: channel, isWanted: wanted.contains(channel))
        case .gap(let channel, let since):
            gapsAnnounced += 1
            // A second gap may be announced before any event ends the first one.
            let earliest = watches[channel]?.gap.map { min($0, since) } ?? since
            watches[channel, default: Watch()].gap = earliest
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
