import Foundation

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
