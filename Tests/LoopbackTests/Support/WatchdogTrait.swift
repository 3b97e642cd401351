import Processes
import Testing

/// Ends each test of a suite that would wait for ever. Every wait in a test must end when its task is cancelled.
struct WatchdogTrait: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(function) { body in try await withWatchdog { try await body() } }
    }
}

extension Trait where Self == WatchdogTrait {
    static var watchdog: WatchdogTrait { WatchdogTrait() }
}
