import TestSupport

/// Runs a test that its harness must fail, and returns the failure. The parameters are those of `withTestHarness`.
func failingTest(
    apps: [ServerApp]? = nil, profile: ServerProfile = .hosted, allowing allowed: Set<Finding.Kind> = [],
    file: String = #fileID, line: Int = #line, _ body: (TestHarness) throws -> Void
) throws -> TestFailure {
    do {
        try withTestHarness(apps: apps, profile: profile, allowing: allowed, file: file, line: line, body)
    } catch let failure as TestFailure {
        return failure
    }
    throw NothingHappened(description: "the harness found nothing")
}

/// Runs an asynchronous test that its harness must fail, and returns the failure.
func failingTest(
    allowing allowed: Set<Finding.Kind> = [], stuckAfter: Duration? = .seconds(60), file: String = #fileID, line: Int = #line,
    isolation: isolated (any Actor)? = #isolation, _ body: (TestHarness) async throws -> Void
) async throws -> TestFailure {
    do {
        try await withTestHarness(allowing: allowed, stuckAfter: stuckAfter, file: file, line: line, body)
    } catch let failure as TestFailure {
        return failure
    }
    throw NothingHappened(description: "the harness found nothing")
}
