import TestSupport

/// The error if a test waits for something that doesn't happen.
package struct WatchdogError: Error, CustomStringConvertible {
    package let seconds: Int
    package var description: String { "nothing more happened within \(seconds) s" }
}

/// Runs a test's body; throws if it doesn't finish in time. Every wait in the body must end when its task is cancelled.
@discardableResult
package func withWatchdog<Result: Sendable>(
    seconds: Int = Patience.seconds, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let task = Task { try await body() }
    let watchdog = Watchdog(patience: .seconds(seconds)) { task.cancel() }
    defer { watchdog.callOff() }
    let result = await task.result
    if task.isCancelled { throw WatchdogError(seconds: seconds) }
    return try result.get()
}
