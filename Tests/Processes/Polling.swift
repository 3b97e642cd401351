/// Polls the system until a condition holds or the task is cancelled. Call this within a watchdog.
///
/// Use this only for changes that the system makes in its own time without a notification: a thread that has ended leaves the
/// system's list a moment later, and a port is free when the last process that inherited it has become another program. Anything
/// else that a test waits for can report that it has happened.
package func pollTheSystem(until isSo: () async throws -> Bool) async rethrows {
    while !Task.isCancelled, try await !isSo() { await Task.yield() }
}
