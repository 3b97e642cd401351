import PusherChannels

/// Thrown when a test waited for something that didn't happen.
package struct WatchdogError: Error, CustomStringConvertible {
    package let seconds: Int
    package var description: String { "nothing more happened within \(seconds) s" }
}

/// Runs a test's body; throws if it isn't done in time, which is long: hundreds of tests start at once, on a machine that may do other
/// things, too. What the body waits with must end when its task is cancelled.
@discardableResult
package func withWatchdog<Result: Sendable>(
    seconds: Int = 60, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let task = Task { try await body() }
    let timer = LiveScheduler().schedule(at: LiveScheduler().now + .seconds(seconds), label: "watchdog") { task.cancel() }
    defer { timer.cancel() }
    let result = await task.result
    if task.isCancelled { throw WatchdogError(seconds: seconds) }
    return try result.get()
}
