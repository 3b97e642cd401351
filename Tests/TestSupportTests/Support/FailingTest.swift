import Processes
import TestSupport
import Testing

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

extension Timeline {
    /// What was told of one kind, such as `server`.
    func texts(of kind: String) -> [String] { entries.filter { $0.kind == kind }.map(\.text) }
}

extension ExitTest.Result {
    /// What the process wrote to its standard error.
    var said: String { String(decoding: standardErrorContent, as: UTF8.self) }
}

/// The error for an awaited event that didn't come.
struct NothingHappened: Error, CustomStringConvertible {
    let description: String
}

/// Waits for the next element that `isWanted` accepts, and fails if none comes in time.
func next<Element: Sendable>(
    _ name: String, in stream: AsyncStream<Element>, where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true }
) async throws -> Element {
    try await withWatchdog(name) {
        for await element in stream where isWanted(element) { return element }
        throw NothingHappened(description: "\(name): the stream ended")
    }
}

/// Runs `body`; cancels it and fails if it takes too long.
func withWatchdog<Result: Sendable>(
    _ name: String, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    do {
        return try await withWatchdog(body)
    } catch let error as WatchdogError {
        throw NothingHappened(description: "\(name): \(error)")
    }
}
