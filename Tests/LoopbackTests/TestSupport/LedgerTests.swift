#if os(Linux)
@testable import chaos
import Foundation
import Testing

/// The cases that the chaos suite counts as faults of the client, and those that it doesn't.
@Suite struct LedgerTests {
    private let start = Date(timeIntervalSince1970: 0)

    /// Returns a ledger with this many events, published a second apart.
    private func ledger(published count: Int = 0) -> Ledger {
        var ledger = Ledger(channels: ["feed"])
        publish(count, in: &ledger)
        return ledger
    }

    private func publish(_ count: Int, in ledger: inout Ledger) {
        for _ in 0..<count { _ = ledger.begin(at: start + Double(ledger.nextNumber)) }
    }

    private func hear(_ numbers: Int..., in ledger: inout Ledger) {
        for number in numbers { ledger.hear(.event(channel: "feed", number: number)) }
    }

    /// Returns the ledger of a client that is subscribed and has received all three events.
    private func following() -> Ledger {
        var ledger = ledger()
        ledger.hear(.state("connected"))
        ledger.hear(.subscribed(channel: "feed"))
        publish(3, in: &ledger)
        hear(0, 1, 2, in: &ledger)
        return ledger
    }

    private func reconnect(sayingSince seconds: Double?, in ledger: inout Ledger) {
        ledger.hear(.state("reconnecting"))
        ledger.hear(.state("connecting"))
        ledger.hear(.state("connected"))
        if let seconds { ledger.hear(.mayHaveMissed(channel: "feed", since: start + seconds)) }
        ledger.hear(.subscribed(channel: "feed"))
    }

    @Test(arguments: [
        ([0, 2], "1 to 1 are missing within a subscription"), ([0, 0], "0 came after 0"), ([1, 0], "0 came after 1"),
        ([7], "7 was never published"),
    ])
    func `The chaos ledger finds events lost, repeated, out of order, or never published`(numbers: [Int], problem: String) {
        var ledger = ledger()
        ledger.hear(.subscribed(channel: "feed"))
        publish(3, in: &ledger)
        for number in numbers { hear(number, in: &ledger) }
        #expect(ledger.findings.map(\.description).contains(problem), "\(ledger.findings)")
    }

    @Test func `The chaos ledger lets an event be missing if the server didn't confirm its publish`() {
        var ledger = ledger()
        ledger.hear(.subscribed(channel: "feed"))
        publish(3, in: &ledger)
        ledger.failed(1)
        hear(0, 2, in: &ledger)
        #expect(ledger.findings.isEmpty)
    }

    @Test func `The chaos ledger finds an event that arrives without a subscription`() {
        var ledger = following()
        publish(1, in: &ledger)
        ledger.hear(.state("reconnecting"))
        hear(3, in: &ledger)
        #expect(ledger.findings.map(\.description) == ["3 came without a subscription"])
    }

    @Test func `The chaos ledger accepts and counts events missed in a gap that the client reported`() {
        var ledger = following()
        publish(2, in: &ledger)
        reconnect(sayingSince: 2, in: &ledger)
        publish(1, in: &ledger)
        hear(5, in: &ledger)
        #expect(ledger.findings.isEmpty)
        #expect(ledger.missed == 2)
    }

    @Test func `The chaos ledger finds events missed between subscriptions without a reported gap`() {
        var ledger = following()
        publish(2, in: &ledger)
        reconnect(sayingSince: nil, in: &ledger)
        publish(1, in: &ledger)
        hear(5, in: &ledger)
        #expect(ledger.findings.map(\.description) == ["3 is missing, and the client said nothing"])
    }

    /// The first missing event is sent at 3 s; the client's clock may differ from ours.
    @Test(arguments: [(2.0, 0.0, true), (3.05, 0, true), (4, 0, false), (3603, 3600, true), (3603, 0, false), (3, 3600, false)])
    func `The chaos ledger finds a reported gap whose start doesn't fit the first missing event`(
        since: Double, ahead: Double, isRight: Bool
    ) {
        var ledger = following()
        ledger.clockAhead = ahead
        publish(2, in: &ledger)
        reconnect(sayingSince: since, in: &ledger)
        publish(1, in: &ledger)
        hear(5, in: &ledger)
        #expect(ledger.findings.isEmpty == isRight, "\(ledger.findings)")
    }

    /// A connection is lost before an event arrives: the first gap covers events that were missed before it, the second those
    /// that it missed itself.
    @Test(arguments: [(2.0, 4.0, true), (2, 5, false)])
    func `The chaos ledger checks each of two successive gaps against the events missed in that gap`(
        first: Double, second: Double, isRight: Bool
    ) {
        var ledger = following()
        publish(1, in: &ledger)
        reconnect(sayingSince: first, in: &ledger)
        publish(2, in: &ledger)
        reconnect(sayingSince: second, in: &ledger)
        publish(1, in: &ledger)
        hear(6, in: &ledger)
        #expect(ledger.findings.isEmpty == isRight, "\(ledger.findings)")
    }

    @Test func `The chaos ledger finds events lost after a renewed subscription, even with a reported gap`() {
        var ledger = following()
        reconnect(sayingSince: 2, in: &ledger)
        publish(2, in: &ledger)
        hear(4, in: &ledger)
        #expect(ledger.findings.map(\.description).contains("3 is missing after the subscription"))
    }

    @Test func `The chaos ledger finds an event lost right after the first subscription`() {
        var ledger = ledger()
        ledger.hear(.subscribed(channel: "feed"))
        publish(2, in: &ledger)
        hear(1, in: &ledger)
        #expect(ledger.findings.map(\.description).contains("0 is missing after the subscription"))
    }
}

/// The report about all trials of a scenario.
@Suite struct ChaosReportTests {
    private static let skip = Result<Trial.Result, any Error>.failure(Skipped("not here"))

    /// A skipped trial doesn't hide the problems that other trials found, in whatever order they end.
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
