/// Connecting, disconnecting and shutting down.
extension PusherPool {
    /// Connects: the first connection at once, the others at the pool's rate.
    public func connect() {
        change { $0.connect() }
    }

    /// Disconnects all connections. Subscriptions are kept: the next ``connect()`` makes them again.
    public func disconnect() {
        change { $0.disconnect() }
    }

    /// Connects, and returns when all connections are disconnected: by ``disconnect()``, or by cancellation of the task, which
    /// disconnects them. If ``shutdown(within:)`` ends the pool, both return together, once everything that was read is
    /// delivered. The pool's streams then end, once their elements have been read.
    ///
    /// Meanwhile, lost connections are retried. If a connection gives up permanently, for example because of an unknown
    /// application key, the others are disconnected, and this call and the streams throw its ``PusherError``. Called during a
    /// shutdown, it returns with that; called later, at once.
    public func run() async throws {
        try await environment.endingGracefully(by: { await self.shutdown() }) {
            let wait = Runs.Wait()
            guard change({ $0.begin(wait) }) else { return }
            try await wait.valueEvenIfCancelled { self.change { if $0.runs.cancel(wait) { $0.disconnect() } } }
        }
    }

    /// Shuts the pool down permanently and gracefully: each connection as ``Pusher/shutdown(within:)`` shuts down a client, all
    /// at the same time.
    ///
    /// - Parameter limit: The maximum time for all of this; anything not done by then is left undone.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        change { $0.beginShutdown() }
        await withTaskGroup { group in
            for client in clients { group.addTask { await client.shutdown(within: limit) } }
        }
        change { $0.endShutdown() }
    }

    /// Handles the end of a client's connection; with a reason, the client gave up permanently.
    func disconnected(_ client: Pusher, because reason: PusherError?) {
        guard let reason else { return endRunsIfDisconnected() }
        // In the same queue as the steps that connect the clients: this tells failures of this life from those of the life
        // before.
        change { $0.steps.append(.clientFailed(client, reason)) }
    }

    /// Disconnects all clients because one gave up permanently: the others won't do better.
    func clientFailed(_ client: Pusher, because reason: PusherError) {
        // Nothing connects it meanwhile, because that is a step, too.
        let isDisconnected = client.connection.connectionState == .disconnected
        let isOfThisGeneration = change { state in
            // A delegate may have been notified first, and have connected the pool again.
            guard isDisconnected, state.isOfThisGeneration(client) else { return false }
            state.disconnect()
            state.endRuns(reason)
            return true
        }
        if !isOfThisGeneration { endRunsIfDisconnected() }
    }

    func endRunsIfDisconnected() {
        let (generation, clients) = state.withLock { ($0.generation, $0.clients) }
        guard clients.allSatisfy({ $0.connection.connectionState == .disconnected }) else { return }
        change { state in
            // Not the runs of a life that has begun since. A shutdown ends its runs when everything is delivered.
            if state.phase == .idle, state.generation == generation { state.endRuns() }
        }
    }
}
