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

/// Polls the system until a condition holds or the task is cancelled. Call this within a watchdog.
///
/// Use this only for changes that the system makes in its own time without a notification: a thread that has ended leaves the
/// system's list a moment later, and a port is free when the last process that inherited it has become another program. Anything
/// else that a test waits for can report that it has happened.
package func pollTheSystem(until isSo: () async throws -> Bool) async rethrows {
    while !Task.isCancelled, try await !isSo() { await Task.yield() }
}
