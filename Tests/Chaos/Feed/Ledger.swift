import Foundation

/// Compares the published events with those that a client received.
///
/// Within a subscription, no event may be lost, repeated or out of order. Between two subscriptions, events sent after the last
/// event of the first and before the second may be missing, but the client must have reported this, with the time since when
/// events may be missing.
struct Ledger {
    /// A deviation from what a client should have reported.
    struct Finding: Equatable, CustomStringConvertible {
        let channel: String
        let description: String
    }

    private struct Publication {
        let begun: Date
        var mayBeMissing = false
    }

    private struct Subscriber {
        enum State {
            case none
            /// Subscribed, but without an event yet; every event published from this number on must arrive.
            case waiting(for: Int)
            case following
        }

        var state = State.none
        var last: Int?
        /// The gaps that the client has reported since the last event: the time since when events may be missing, and the number
        /// that all of them are below.
        var gaps: [(since: Date, before: Int)] = []
        var missed = 0

        var unsubscribed: Subscriber {
            var copy = self
            copy.state = .none
            return copy
        }
    }

    /// The number of seconds that an event may be in transit: one that is lost with a connection may have been sent before the
    /// last sign of life arrived.
    private static let transit = 0.1
    /// The number of seconds by which a time that a client reports may precede the first missing event.
    private static let caution = 10.0

    /// The number of seconds by which the client's clock is ahead of ours.
    var clockAhead = 0.0
    private var publications: [Publication] = []
    private var subscribers: [String: Subscriber]
    private(set) var findings: [Finding] = []

    init(channels: [String] = FeedEvent.channels) {
        subscribers = Dictionary(uniqueKeysWithValues: channels.map { ($0, Subscriber()) })
    }

    // MARK: The publisher

    /// The number of the next event to be published.
    var nextNumber: Int { publications.count }

    mutating func begin(at time: Date) -> Int {
        publications.append(Publication(begun: time))
        return publications.count - 1
    }

    /// Records that the server didn't confirm the event.
    mutating func failed(_ number: Int) {
        publications[number].mayBeMissing = true
    }

    // MARK: The client

    /// The largest number of events that any channel missed.
    var missed: Int { subscribers.values.map(\.missed).max() ?? 0 }

    /// Returns whether every channel got an event with this number or a higher one.
    func hasReached(_ number: Int) -> Bool {
        subscribers.values.allSatisfy { ($0.last ?? -1) >= number }
    }

    mutating func hear(_ heard: Heard) {
        switch heard {
        case .state("connected"), .error, .subscriptionFailed, .copied:
            break
        case .copyLacks(let first, let last):
            guard let lost = (first...last).first(where: { !publications[$0].mayBeMissing }) else { break }
            findings.append(Finding(channel: FeedEvent.followed, description: "the copy lacks \(lost)"))
        case .state:
            subscribers = subscribers.mapValues { $0.unsubscribed }
        case .subscribed(let channel):
            let number = nextNumber
            subscribers[channel]?.state = .waiting(for: number)
        case .mayHaveMissed(let channel, let since):
            let number = nextNumber
            subscribers[channel]?.gaps.append((since: since, before: number))
        case .event(let channel, let number):
            take(number, of: channel)
        }
    }

    private mutating func take(_ number: Int, of channel: String) {
        func found(_ description: String) { findings.append(Finding(channel: channel, description: description)) }
        guard var subscriber = subscribers[channel], publications.indices.contains(number) else {
            return found("\(number) was never published")
        }
        if let last = subscriber.last, number <= last { return found("\(number) came after \(last)") }
        var expected = subscriber.last.map { $0 + 1 } ?? number
        if subscriber.last == nil, case .waiting(let bound) = subscriber.state { expected = min(bound, number) }
        let missing = (expected..<number).filter { !publications[$0].mayBeMissing }
        switch subscriber.state {
        case .none:
            found("\(number) came without a subscription")
        case .following:
            if let first = missing.first { found("\(first) to \(number - 1) are missing within a subscription") }
        case .waiting(let bound):
            if let lost = missing.first(where: { $0 >= bound }) { found("\(lost) is missing after the subscription") }
            check(missing, announcedBy: subscriber, of: channel)
            subscriber.missed += missing.count
        }
        subscriber.state = .following
        subscriber.last = number
        subscriber.gaps = []
        subscribers[channel] = subscriber
    }

    private mutating func check(_ missing: [Int], announcedBy subscriber: Subscriber, of channel: String) {
        func lateness(_ since: Date, for number: Int) -> TimeInterval {
            since.timeIntervalSince(publications[number].begun) - clockAhead
        }
        let unsaid = missing.first { number in
            !subscriber.gaps.contains { number < $0.before && lateness($0.since, for: number) <= Self.transit }
        }
        if let unsaid {
            let late = subscriber.gaps.map { String(format: "%.3f s", lateness($0.since, for: unsaid)) }
            let said = late.isEmpty ? "nothing" : "something since \(late.joined(separator: ", ")) after it was sent"
            findings.append(Finding(channel: channel, description: "\(unsaid) is missing, and the client said \(said)"))
        } else if let first = missing.first, let gap = subscriber.gaps.first, lateness(gap.since, for: first) < -Self.caution {
            let text = "\(first) is the first that is missing, and the client spoke of \(gap.since)"
            findings.append(Finding(channel: channel, description: text))
        }
    }
}
