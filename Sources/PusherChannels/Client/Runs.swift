/// The calls of `run()` that wait for the end of a client, or of a pool.
struct Runs: Sendable {
    typealias Wait = OneShot<Void>

    private struct Run {
        let wait: Wait
        /// Indicates whether the call's task was cancelled. The call then waits for the disconnection that this started, unless a
        /// new connection is requested meanwhile.
        var isCancelled = false
    }

    private var runs: [Run] = []
    private var ended = EndedWaits()

    var isEmpty: Bool { runs.isEmpty }

    /// Indicates whether the last run has just ended.
    var lastHasEnded: Bool { runs.isEmpty && !ended.isEmpty }

    mutating func add(_ wait: Wait) {
        runs.append(Run(wait: wait))
    }

    /// Notes that the call's task was cancelled; returns whether the call still waited.
    mutating func cancel(_ wait: Wait) -> Bool {
        guard let index = runs.firstIndex(where: { $0.wait === wait }) else { return false }
        runs[index].isCancelled = true
        return true
    }

    /// Ends the runs that a change of a client's connection ends. A shutdown still has to deliver what was read, so it ends them
    /// itself.
    mutating func connectionChanged(
        from old: ConnectionState, to new: ConnectionState, because reason: PusherError?, isShuttingDown: Bool
    ) {
        switch new {
        case .disconnected: if reason != nil || !isShuttingDown { endAll(reason) }
        default: if old == .disconnecting { endCancelled() }
        }
    }

    mutating func endCancelled() {
        for run in runs where run.isCancelled { ended.add(run.wait, nil) }
        runs.removeAll(where: \.isCancelled)
    }

    mutating func endAll(_ failure: PusherError? = nil) {
        for run in runs { ended.add(run.wait, failure) }
        runs = []
    }

    /// Appends the closures that resume the calls whose wait is over.
    mutating func takeWakeUps(into wakeUps: inout [() -> Void]) { ended.takeWakeUps(into: &wakeUps) }
}

/// The calls whose wait is over. They are resumed outside the lock.
struct EndedWaits: Sendable {
    private var ended: [(wait: OneShot<Void>, outcome: Result<Void, any Error>)] = []

    var isEmpty: Bool { ended.isEmpty }

    mutating func add(_ wait: OneShot<Void>, _ failure: PusherError?) {
        ended.append((wait, failure.map { .failure($0) } ?? .success(())))
    }

    /// Appends the closures that resume the calls.
    mutating func takeWakeUps(into wakeUps: inout [() -> Void]) {
        guard !ended.isEmpty else { return }
        for entry in ended { wakeUps.append { entry.wait.give(entry.outcome) } }
        ended = []
    }
}

extension ClientCore {
    /// Connects, and waits for the client's end; throws the error that ended it for good, if any. Cancelling the task disconnects
    /// the client.
    ///
    /// A single continuation waits, whatever happens to the connection meanwhile: on Linux, libdispatch ends a process that has
    /// no descriptor left when it looks at a task that waits for a thread.
    func connectUntilDisconnected() async throws {
        let wait = Runs.Wait()
        // In one step, so the end of an earlier connection doesn't end this run.
        change { state, now in
            state.waits.runs.add(wait)
            // A task that was cancelled before it began doesn't connect.
            let isVain = Task.isCancelled && state.machine.isIdle && !state.machine.isShutDown
            if !isVain { state.handle(.connect, at: now) }
            if isVain || readers.change(\.isShutDown) { state.waits.runs.endAll() }
        }
        try await wait.valueEvenIfCancelled {
            self.change { state, now in
                if state.waits.runs.cancel(wait) { state.handle(.disconnect, at: now) }
            }
        }
    }
}
