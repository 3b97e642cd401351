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

/// The page that documents a client's behavior in each scenario: `| scenario | errors | missed | typically | at most |`.
struct Page {
    private struct Row {
        let errors: String
        let limit: Duration
    }

    private var rows: [String: Row] = [:]

    init(at path: String) throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { throw Trouble("no page at \(path)") }
        for line in text.split(separator: "\n") where line.hasPrefix("| ") && line.hasSuffix(" s |") {
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard cells.count == 5, let limit = Double(cells[4].dropLast(2)) else { continue }
            rows[cells[0]] = Row(errors: cells[1], limit: .seconds(limit))
        }
    }

    /// Returns the rows without a scenario and the scenarios without a row.
    func problems(with scenarios: [Scenario]) -> [String] {
        let names = Set(scenarios.map(\.name))
        return rows.keys.filter { !names.contains($0) }.sorted().map { "the page has a row that nothing makes happen: \($0)" }
            + names.filter { rows[$0] == nil }.sorted().map { "the page has no row for: \($0)" }
    }

    func problems(with report: Report, of scenario: Scenario) -> [String] {
        guard let row = rows[scenario.name] else { return [] }
        let unsaid = report.errors.filter { !row.errors.contains("`\($0.key)`") }.sorted { $0.key < $1.key }
        var problems = unsaid.map { kind, message in
            "\(scenario.name): the client reported `\(kind)` (\(message)), of which the page says nothing"
        }
        if let recovery = report.recovery, recovery > row.limit {
            problems.append("\(scenario.name): it took \(recovery), the page says at most \(row.limit)")
        }
        return problems
    }
}
