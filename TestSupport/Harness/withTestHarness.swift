/// Runs a test with a fresh ``TestHarness``, and throws one readable error if anything is left over at its end.
///
/// Works in Swift Testing and in XCTest, which both fail the test that throws. Tasks that hold a client must have ended by then: this
/// waits on a thread that they may need, and such a client may be found as a leak. The asynchronous form lets them end.
///
/// - Parameters:
///   - apps: The apps of the harness's server, which refuses other keys and checks all signatures; `nil` for ``ServerApp/local``
///     and any other key, for which nothing is checked.
///   - seed: The seed of everything random.
///   - profile: The server that the harness's server imitates.
///   - allowed: The kinds of findings that aren't reported at the end.
///   - stuckAfter: The real time after which a call that moves time gives up and is a finding. If the test hasn't ended a
///     minute later (on a busy machine, more), the process ends with a report and an error. `nil` for no limit.
///   - file: The file of the call, for what is reported; the compiler fills it in.
///   - line: The line of the call, likewise.
///   - body: The test.
/// - Throws: Any error from `body`; otherwise ``TestFailure``.
@discardableResult
public func withTestHarness<Result>(
    apps: [ServerApp]? = nil, seed: UInt64 = 1, profile: ServerProfile = .hosted, allowing allowed: Set<Finding.Kind> = [],
    stuckAfter: Duration? = .seconds(60), file: String = #fileID, line: Int = #line, _ body: (TestHarness) throws -> Result
) throws -> Result {
    let harness = TestHarness(
        apps: apps, seed: seed, profile: profile, allowing: allowed, stuckAfter: stuckAfter, file: file, line: line)
    harness.life.begin()
    let result: Result
    do {
        result = try TestHarness.$current.withValue(harness) { try body(harness) }
    } catch {
        throw harness.ended(with: error)
    }
    try harness.finish(alive: true)
    return result
}

/// Runs an asynchronous test with a fresh ``TestHarness``, and throws one readable error if anything is left over at its end.
///
/// The harness's servers are stopped first, even if `body` throws.
///
/// - Parameters:
///   - apps: The apps of the harness's server, which refuses other keys and checks all signatures; `nil` for ``ServerApp/local``
///     and any other key, for which nothing is checked.
///   - seed: The seed of everything random.
///   - profile: The server that the harness's server imitates.
///   - allowed: The kinds of findings that aren't reported at the end.
///   - stuckAfter: The real time after which a call that moves time gives up and is a finding. If the test hasn't ended a
///     minute later (on a busy machine, more), the process ends with a report and an error. `nil` for no limit.
///   - file: The file of the call, for what is reported; the compiler fills it in.
///   - line: The line of the call, likewise.
///   - isolation: The actor that the test runs on, by default the caller's.
///   - body: The test.
/// - Throws: Any error from `body`; otherwise ``TestFailure``.
@discardableResult
public func withTestHarness<Result>(
    apps: [ServerApp]? = nil, seed: UInt64 = 1, profile: ServerProfile = .hosted, allowing allowed: Set<Finding.Kind> = [],
    stuckAfter: Duration? = .seconds(60), file: String = #fileID, line: Int = #line,
    isolation: isolated (any Actor)? = #isolation, _ body: (TestHarness) async throws -> Result
) async throws -> Result {
    let harness = TestHarness(
        apps: apps, seed: seed, profile: profile, allowing: allowed, stuckAfter: stuckAfter, file: file, line: line)
    harness.life.begin()
    let result: Result
    do {
        result = try await withTaskCancellationHandler {
            try await TestHarness.$current.withValue(harness) { try await body(harness) }
        } onCancel: {
            harness.tellOfCancellation()
        }
    } catch {
        await harness.stopServers()
        // The test's `defer` may have cancelled a task that has yet to release a client.
        harness.session.release()
        await harness.waitForLastOwners(alive: false, patience: .milliseconds(200))
        throw harness.ended(with: error)
    }
    try await harness.finish(alive: true)
    return result
}
