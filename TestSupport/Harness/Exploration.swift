import PusherChannels

/// Something that can happen to an app under test, for ``exploreTestHarness(seeds:actions:steps:replaying:allowing:stuckAfter:file:line:makeApp:check:)``.
public struct HarnessAction<App>: Sendable {
    /// The name in reports, which also replays the action.
    public let name: String
    fileprivate let run: @Sendable (TestHarness, App) async throws -> Void

    /// Creates an action.
    ///
    /// - Parameters:
    ///   - name: The name in reports; different for each action.
    ///   - run: A closure that does it, and throws if what the app does then is wrong.
    public init(_ name: String, _ run: @escaping @Sendable (TestHarness, App) async throws -> Void) {
        self.name = name
        self.run = run
    }

    /// Returns an action that lets time pass.
    ///
    /// - Parameters:
    ///   - duration: The time.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    public static func advance(by duration: Duration, file: String = #fileID, line: Int = #line) -> HarnessAction {
        HarnessAction("\(duration) pass") { harness, _ in try await harness.advance(by: duration, file: file, line: line) }
    }
}

/// An error with the shortest sequence of actions that was found to fail, and what replays it.
public struct FailedExploration: Error, CustomStringConvertible {
    /// The seed of the harness and of the sequence.
    public let seed: UInt64
    /// The names of the actions.
    public let actions: [String]
    /// The number of actions before they were reduced.
    public let length: Int
    /// The error that the shortest sequence ended with.
    public let error: any Error

    /// The actions, the line that replays them, and the error.
    public var description: String {
        let names = actions.map { "\($0.debugDescription)" }.joined(separator: ", ")
        return """
            with seed \(seed), \(actions.count) of \(length) actions are enough: \(actions.joined(separator: "; "))
            replay: exploreTestHarness(seeds: [\(seed)], actions: …, replaying: [\(names)]) …
            \(error)
            """
    }
}

/// An error thrown if a replayed action isn't among those that are given.
private struct UnknownAction: Error, CustomStringConvertible {
    let name: String
    let known: [String]

    var description: String { "no action is named \(name); there are \(known.joined(separator: "; "))" }
}

/// An error thrown if there is nothing to try: the test would pass without having run.
struct NothingToExplore: Error, CustomStringConvertible {
    let missing: String

    var description: String { "nothing is explored: there is no \(missing)" }
}

/// Runs an app through a random sequence of actions for each seed, each time with a fresh harness, until one fails. Then drops the
/// actions that the failure doesn't need.
///
/// ```swift
/// try await exploreTestHarness(
///     seeds: 1...3,
///     actions: [
///         .init("the server restarts") { harness, _ in harness.server.shutdown() },
///         .advance(by: .seconds(5)),
///     ]
/// ) { harness -> Pusher in
///     let pusher = harness.makePusher()
///     pusher.connect()
///     return pusher
/// } check: { harness, pusher in
///     try await harness.eventually("it is connected") { pusher.connection.connectionState == .connected }
/// }
/// ```
///
/// A sequence fails if an action or the check throws, or if the harness finds something at its end. An expectation that only
/// records an issue doesn't count; use `try #require` or throw.
///
/// - Parameters:
///   - seeds: The seeds of the sequences, and of the harnesses.
///   - actions: The actions to draw from.
///   - steps: The number of actions in a sequence.
///   - replaying: The names of the actions to run instead, from an error's report.
///   - allowed: The kinds of findings that aren't reported.
///   - stuckAfter: The real time after which one sequence is given up; `nil` for no limit.
///   - file: The file of the call, for what is reported; the compiler fills it in.
///   - line: The line of the call, likewise.
///   - makeApp: A closure that makes the app in a fresh harness.
///   - check: A closure that throws if the app isn't as it should be after all actions.
/// - Throws: ``FailedExploration``; an error if a name to replay is unknown, or if there is no seed or no action;
///   `CancellationError` if the task is cancelled.
public func exploreTestHarness<App>(
    seeds: some Sequence<UInt64>, actions: [HarnessAction<App>], steps: Int = 20, replaying: [String]? = nil,
    allowing allowed: Set<Finding.Kind> = [], stuckAfter: Duration? = .seconds(60), file: String = #fileID, line: Int = #line,
    makeApp: (TestHarness) async throws -> App, check: (TestHarness, App) async throws -> Void = { _, _ in }
) async throws {
    /// Returns the error that a sequence ends with.
    func failure(_ sequence: [HarnessAction<App>], seed: UInt64) async throws -> (any Error)? {
        try Task.checkCancellation()
        do {
            try await withTestHarness(seed: seed, allowing: allowed, stuckAfter: stuckAfter, file: file, line: line) { harness in
                let app = try await makeApp(harness)
                for action in sequence {
                    harness.timeline.note("action", action.name)
                    try await action.run(harness, app)
                }
                try await check(harness, app)
            }
            return nil
        } catch {
            return error
        }
    }
    if let unknown = replaying?.first(where: { name in !actions.contains { $0.name == name } }) {
        throw UnknownAction(name: unknown, known: actions.map(\.name))
    }
    guard replaying != nil || !actions.isEmpty else { throw NothingToExplore(missing: "action") }
    var isTried = false
    for seed in seeds {
        isTried = true
        var generator = SplitMix64(seed: seed)
        var sequence: [HarnessAction<App>] =
            if let replaying {
                replaying.compactMap { name in actions.first { $0.name == name } }
            } else {
                (0..<steps).compactMap { _ in actions.randomElement(using: &generator) }
            }
        let length = sequence.count
        guard var error = try await failure(sequence, seed: seed) else { continue }
        // Drop halves, then quarters, down to single actions.
        var part = max(1, length / 2)
        while part > 0, !sequence.isEmpty {
            var (start, hasDropped) = (0, false)
            while start < sequence.count {
                var shorter = sequence
                shorter.removeSubrange(start..<min(start + part, sequence.count))
                if let shorterError = try await failure(shorter, seed: seed) {
                    (sequence, error, hasDropped) = (shorter, shorterError, true)
                } else {
                    start += part
                }
            }
            if !hasDropped { part /= 2 }
        }
        throw FailedExploration(seed: seed, actions: sequence.map(\.name), length: length, error: error)
    }
    guard isTried else { throw NothingToExplore(missing: "seed") }
}
