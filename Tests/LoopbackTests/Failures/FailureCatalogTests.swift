#if os(Linux)
import Foundation
import Testing

/// Each row of the page "When connecting fails" is made to happen, and the client's report must match the row.
@Suite struct FailureCatalogTests {
    /// The page's rows by the name of the problem, each with the failure's kind and message.
    private static let rows: [String: FailureReport] = {
        let path = "Sources/PusherChannels/PusherChannels.docc/WhenConnectingFails.md"
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        let page = (try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)) ?? ""
        var rows: [String: FailureReport] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard cells.count == 3, cells[1].hasPrefix("`") else { continue }
            rows[cells[0]] = FailureReport(kind: String(cells[1].dropFirst().dropLast()), message: cells[2])
        }
        return rows
    }()

    @Test(arguments: FailureScenario.all)
    func whatAClientHears(scenario: FailureScenario) async throws {
        let report = try await scenario.run()
        #expect(report == Self.rows[scenario.name], "| \(scenario.name) | `\(report.kind)` | \(report.message) |")
    }

    @Test func thePageHasNoOtherRows() {
        #expect(Set(Self.rows.keys) == Set(FailureScenario.all.map { $0.name }))
        #expect(Set(FailureScenario.all.map { $0.name }).count == FailureScenario.all.count)
    }
}
#endif
