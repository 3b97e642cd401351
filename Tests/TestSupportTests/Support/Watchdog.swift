import Processes

/// The news that a test waited for didn't come.
struct NothingHappened: Error, CustomStringConvertible {
    let description: String
}

/// Waits for the next element that `isWanted`, and fails when none comes in time.
func next<Element: Sendable>(
    _ name: String, in stream: AsyncStream<Element>, where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true }
) async throws -> Element {
    try await withWatchdog(name) {
        for await element in stream where isWanted(element) { return element }
        throw NothingHappened(description: "\(name): the stream ended")
    }
}

/// Runs `body`, and cancels and fails it when it takes too long.
func withWatchdog<Result: Sendable>(
    _ name: String, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    do {
        return try await withWatchdog(body)
    } catch let error as WatchdogError {
        throw NothingHappened(description: "\(name): \(error)")
    }
}
