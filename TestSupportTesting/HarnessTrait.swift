import TestSupport
public import Testing

/// A trait that runs a test, or each test of a suite, with a fresh `TestHarness`, which is `TestHarness.current` inside.
///
/// ```swift
/// @Test(.harness(profile: .reverb, seed: 7)) func `A client comes back`() throws {
///     let harness = try #require(TestHarness.current)
///     …
/// }
/// ```
///
/// The harness is verified at the test's end, and each issue of the test tells what had happened. Each case of a test with
/// arguments has a harness of its own. If a suite has the trait and a test in it, too, the test's counts.
public struct HarnessTrait: TestTrait, SuiteTrait, TestScoping {
    /// Tells the traits that one call made from others. A place wouldn't: a helper makes many at one place.
    fileprivate final class Token: Sendable {}

    /// The trait whose harness is running.
    @TaskLocal private static var running: Token?

    fileprivate let makeHarness: @Sendable (_ body: (TestHarness) async throws -> Void) async throws -> Void
    fileprivate let token = Token()

    /// True: every test of a suite has a harness.
    public var isRecursive: Bool { true }

    /// Returns the trait if a test case runs, and no other trait of this kind is nearer to it.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> HarnessTrait? {
        guard testCase != nil else { return nil }
        let nearest = test.traits.compactMap { $0 as? HarnessTrait }.last
        return nearest.map { $0.token === token } ?? true ? self : nil
    }

    /// Runs a test case with a fresh harness, or within the one that the same trait has made, if a suite and its test have it.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard Self.running !== token else { return try await function() }
        try await makeHarness { harness in
            let story = IssueHandlingTrait.compactMapIssues { issue in
                let story = harness.story
                guard !story.isEmpty else { return issue }
                var issue = issue
                issue.comments.append(Comment(rawValue: "what happened in the harness:\n\(story)"))
                return issue
            }
            try await Self.$running.withValue(token) {
                try await story.provideScope(for: test, testCase: testCase, performing: function)
            }
        }
    }
}

extension Trait where Self == HarnessTrait {
    /// Runs each test with a fresh harness, as `withTestHarness` does.
    ///
    /// - Parameters:
    ///   - apps: The apps of the harness's server; `nil` for `ServerApp.local` and any other key.
    ///   - profile: The server that the harness's server imitates.
    ///   - seed: The seed of everything random.
    ///   - allowed: The kinds of findings that aren't reported at the end.
    ///   - stuckAfter: The real time after which a call that moves time gives up and is a finding. If the test hasn't ended a
    ///     minute later (on a busy machine, more), the process ends with a report and an error. `nil` for no limit.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - column: The column of the call, likewise; nothing reports it.
    public static func harness(
        apps: [ServerApp]? = nil, profile: ServerProfile = .hosted, seed: UInt64 = 1, allowing allowed: Set<Finding.Kind> = [],
        stuckAfter: Duration? = .seconds(60), file: String = #fileID, line: Int = #line, column: Int = #column
    ) -> HarnessTrait {
        HarnessTrait { body in
            try await withTestHarness(
                apps: apps, seed: seed, profile: profile, allowing: allowed, stuckAfter: stuckAfter, file: file, line: line, body)
        }
    }
}
