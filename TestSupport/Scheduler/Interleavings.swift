import PusherChannels

/// An error that names, by its seed, the order of jobs in which a test failed.
public struct FailedInterleaving: Error, CustomStringConvertible {
    /// The seed that the order was drawn from: `TestExecutor(seed:)` replays it.
    public let seed: UInt64
    /// The error that the body threw.
    public let error: any Error

    /// `with seed 17 (replay: TestExecutor(seed: 17)): opened twice`
    public var description: String { "with seed \(seed) (replay: TestExecutor(seed: \(seed))): \(error)" }
}

/// Runs a body once for each seed, each time on a new ``TestExecutor`` with a different order of jobs, until one fails:
/// `try await exploreInterleavings(seeds: 0..<200) { executor in … }`.
///
/// - Parameters:
///   - seeds: The seeds of the orders; the same seed always gives the same order.
///   - time: The way in which the clock moves.
///   - file: The file of the call, for what is thrown; the compiler fills it in.
///   - line: The line of the call, likewise.
///   - body: The test, which throws if the order matters but shouldn't; an expectation that only records an issue doesn't name
///     the seed.
/// - Throws: ``FailedInterleaving`` with the first seed that failed; an error if there is no seed; `CancellationError` if the
///   task is cancelled.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public func exploreInterleavings(
    seeds: some Sequence<UInt64>, time: TestExecutor.Time = .manual, file: String = #fileID, line: Int = #line,
    _ body: @escaping @Sendable (TestExecutor) async throws -> Void
) async throws {
    var isTried = false
    for seed in seeds {
        isTried = true
        do {
            try await TestExecutor(seed: seed).run(time: time, file: file, line: line, body)
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            throw FailedInterleaving(seed: seed, error: error)
        }
    }
    guard isTried else { throw NothingToExplore(missing: "seed") }
}
