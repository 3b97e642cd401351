/// Looks again and again until the system says so, or the task is cancelled, so put a watchdog around it.
///
/// Only for what the system does in its own time and tells nobody: a thread that has ended leaves its list a moment later, a port is free
/// when the last process that inherited it has become another program. Whatever else a test waits for can tell that it has happened.
package func pollTheSystem(until isSo: () async throws -> Bool) async rethrows {
    while !Task.isCancelled, try await !isSo() { await Task.yield() }
}
