import Processes

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
