#if os(Linux)
import Testing

@testable import chaos

/// The report about all trials of a scenario.
@Suite struct ChaosReportTests {
    private static let skip = Result<Trial.Result, any Error>.failure(Skipped("not here"))

    /// A skipped trial doesn't hide the problems that other trials found, in whatever order they end.
    @Test(arguments: [[true, false], [false, true], [true, false, true]])
    func aSkippedTrialHidesNoProblem(skipped: [Bool]) {
        var report = Report()
        for isSkipped in skipped { report.add(isSkipped ? Self.skip : .failure(Trouble("it broke")), way: .tls) }
        #expect(report.skipped == nil)
        #expect(report.problems == ["(TLS) it broke"])
    }

    @Test func whatIsSkippedAltogetherIs() {
        var report = Report()
        for _ in 1...2 { report.add(Self.skip, way: .tls) }
        #expect(report.skipped == "not here" && report.problems.isEmpty)
    }
}
#endif
