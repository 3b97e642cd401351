#if os(Linux)
@testable import chaos
import Foundation
import Testing

/// The cases that the chaos suite counts as faults of the client, and those that it doesn't.
@Suite struct LedgerTests {
    /// What happens to the client's channel.
    enum Step: Sendable {
        case connects, subscribes, isLost
        /// Events are published, one each second.
        case publishes(Int)
        /// The server didn't confirm the publish of an event.
        case fails(Int)
        case hears([Int])
        /// The client reconnects, and says since when it may have missed something.
        case returns(since: Double?)
        /// The client's clock differs from ours.
        case isAhead(Double)

        func happen(to ledger: inout Ledger) {
            let start = Date(timeIntervalSince1970: 0)
            switch self {
            case .connects: ledger.hear(.state("connected"))
            case .subscribes: ledger.hear(.subscribed(channel: "feed"))
            case .isLost: ledger.hear(.state("reconnecting"))
            case .publishes(let count): for _ in 0..<count { _ = ledger.begin(at: start + Double(ledger.nextNumber)) }
            case .fails(let number): ledger.failed(number)
            case .hears(let numbers): for number in numbers { ledger.hear(.event(channel: "feed", number: number)) }
            case .returns(let seconds):
                for state in ["reconnecting", "connecting", "connected"] { ledger.hear(.state(state)) }
                if let seconds { ledger.hear(.mayHaveMissed(channel: "feed", since: start + seconds)) }
                ledger.hear(.subscribed(channel: "feed"))
            case .isAhead(let seconds): ledger.clockAhead = seconds
            }
        }
    }

    private func played(_ steps: [Step]) -> Ledger {
        var ledger = Ledger(channels: ["feed"])
        for step in steps { step.happen(to: &ledger) }
        return ledger
    }

    /// A client that is subscribed and has received all three events, and what happens then.
    private static func following(_ more: Step...) -> [Step] {
        [.connects, .subscribes, .publishes(3), .hears([0, 1, 2])] + more
    }

    /// What happens, and a problem that is found; it is the only one if that is said.
    static let faults: [([Step], String, Bool)] = [
        ([.subscribes, .publishes(3), .hears([0, 2])], "1 to 1 are missing within a subscription", false),
        ([.subscribes, .publishes(3), .hears([0, 0])], "0 came after 0", false),
        ([.subscribes, .publishes(3), .hears([1, 0])], "0 came after 1", false),
        ([.subscribes, .publishes(3), .hears([7])], "7 was never published", false),
        ([.subscribes, .publishes(2), .hears([1])], "0 is missing after the subscription", false),
        (following(.returns(since: 2), .publishes(2), .hears([4])), "3 is missing after the subscription", false),
        (following(.publishes(1), .isLost, .hears([3])), "3 came without a subscription", true),
        (
            following(.publishes(2), .returns(since: nil), .publishes(1), .hears([5])),
            "3 is missing, and the client said nothing", true
        ),
    ]

    @Test(arguments: faults)
    func `The chaos ledger finds events lost, repeated, out of order, never published, or without a subscription`(
        steps: [Step], problem: String, isOnlyOne: Bool
    ) {
        let findings = played(steps).findings.map(\.description)
        #expect(isOnlyOne ? findings == [problem] : findings.contains(problem), "\(findings)")
    }

    @Test func `The chaos ledger lets an event be missing if the server didn't confirm its publish`() {
        #expect(played([.subscribes, .publishes(3), .fails(1), .hears([0, 2])]).findings.isEmpty)
    }

    @Test func `The chaos ledger accepts and counts events missed in a gap that the client reported`() {
        let ledger = played(Self.following(.publishes(2), .returns(since: 2), .publishes(1), .hears([5])))
        #expect(ledger.findings.isEmpty)
        #expect(ledger.missed == 2)
    }

    /// The first missing event is sent at 3 s; the client's clock may differ from ours.
    @Test(arguments: [(2.0, 0.0, true), (3.05, 0, true), (4, 0, false), (3603, 3600, true), (3603, 0, false), (3, 3600, false)])
    func `The chaos ledger finds a reported gap whose start doesn't fit the first missing event`(
        since: Double, ahead: Double, isRight: Bool
    ) {
        let steps = Self.following(.isAhead(ahead), .publishes(2), .returns(since: since), .publishes(1), .hears([5]))
        let findings = played(steps).findings
        #expect(findings.isEmpty == isRight, "\(findings)")
    }

    /// A connection is lost before an event arrives: the first gap covers events that were missed before it, the second those
    /// that it missed itself.
    @Test(arguments: [(2.0, 4.0, true), (2, 5, false)])
    func `The chaos ledger checks each of two successive gaps against the events missed in that gap`(
        first: Double, second: Double, isRight: Bool
    ) {
        let steps = Self.following(
            .publishes(1), .returns(since: first), .publishes(2), .returns(since: second), .publishes(1), .hears([6]))
        let findings = played(steps).findings
        #expect(findings.isEmpty == isRight, "\(findings)")
    }
}

/// The report about all trials of a scenario.
@Suite struct ChaosReportTests {
    private static let skip = Result<Trial.Result, any Error>.failure(Skipped("not here"))

    @Test(arguments: [[true, false], [false, true], [true, false, true]])
    func `A skipped chaos trial doesn't hide the problems of other trials, in any order`(skipped: [Bool]) {
        var report = Report()
        for isSkipped in skipped { report.add(isSkipped ? Self.skip : .failure(Trouble("it broke")), way: .tls) }
        #expect(report.skipped == nil)
        #expect(report.problems == ["(TLS) it broke"])
    }

    @Test func `A chaos scenario counts as skipped if all its trials were skipped`() {
        var report = Report()
        for _ in 1...2 { report.add(Self.skip, way: .tls) }
        #expect(report.skipped == "not here" && report.problems.isEmpty)
    }
}
#endif
