import Dispatch
import PusherChannels

/// The news that a test waited for didn't come.
struct NothingHappened: Error, CustomStringConvertible {
    let description: String
}

/// Waits for the next element that `isWanted`, and fails when none comes in time.
///
/// The limit only ends a test that is lost anyway: nothing that passes waits for it.
func next<Element: Sendable>(
    _ name: String, in stream: AsyncStream<Element>, limit: Duration = .seconds(20),
    where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true }
) async throws -> Element {
    try await withWatchdog(name, limit: limit) {
        for await element in stream where isWanted(element) { return element }
        throw NothingHappened(description: "\(name): the stream ended")
    }
}

/// Runs `body`, and cancels and fails it when it takes longer than `limit`.
func withWatchdog<Result: Sendable>(
    _ name: String, limit: Duration = .seconds(20), _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await expire(after: limit)
            throw NothingHappened(description: "\(name): nothing within \(limit)")
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw NothingHappened(description: name) }
        return result
    }
}

/// Suspends until `limit` is over or the task is cancelled, whichever comes first.
private func expire(after limit: Duration) async throws {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let timer = LiveScheduler().schedule(at: LiveScheduler().now + limit, label: "watchdog") { continuation.finish() }
    defer { timer.cancel() }
    for await _ in stream {}
    try Task.checkCancellation()
}
