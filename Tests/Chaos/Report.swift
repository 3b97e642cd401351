import Foundation
import PusherChannels

/// The results of all trials of a scenario.
struct Report {
    private(set) var problems: [String] = []
    /// The kinds of errors that the client reported, each with the first message of that kind.
    private(set) var errors: [String: String] = [:]
    private(set) var recoveries: [Duration] = []
    private(set) var missed: [Int] = []
    private(set) var count = 0
    /// The reason why all trials were skipped on this machine; nil if any trial took place, in whatever round or way.
    var skipped: String? { count == 0 ? reasonToSkip : nil }
    private var reasonToSkip: String?

    mutating func add(_ result: Result<Trial.Result, any Error>, way: Site.Way) {
        switch result {
        case .failure(let reason as Skipped):
            reasonToSkip = reason.description
            return
        case .failure(let trouble):
            problems.append("(\(way.rawValue)) \(trouble)")
        case .success(let result):
            problems += result.findings.map { "(\(way.rawValue)) \($0)" }
            errors.merge(result.errors) { first, _ in first }
            recoveries.append(result.recovery)
            missed.append(result.missed)
        }
        count += 1
    }

    /// The slowest recovery.
    var recovery: Duration? { recoveries.max() }

    private var median: Duration? { recoveries.isEmpty ? nil : recoveries.sorted()[recoveries.count / 2] }

    /// Returns a row of the page with the measured values.
    func row(of scenario: Scenario) -> String {
        let said = errors.keys.sorted().map { "`\($0)`" }.joined(separator: ", ")
        let lost = missed.max().map { $0 == 0 ? "nothing" : "up to \($0) events" } ?? "?"
        let times = "\(median.map(Self.text) ?? "?") | \(recovery.map(Self.text) ?? "?")"
        return "| \(scenario.name) | \(said.isEmpty ? "nothing" : said) | \(lost) | \(times) |"
    }

    private static func text(_ time: Duration) -> String {
        String(format: "%.2f s", Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)
    }
}
