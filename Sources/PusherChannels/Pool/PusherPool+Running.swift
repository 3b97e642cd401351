/// A pool's life.
extension PusherPool {
    /// Connects: the first connection at once, the others at the pool's rate.
    public func connect() {
        change { $0.connect() }
    }

    /// Disconnects all connections. Subscriptions remain wanted: the next ``connect()`` makes them again.
    public func disconnect() {
        change { $0.disconnect() }
    }

    /// Connects, and returns when all connections are disconnected: by ``disconnect()``, or because the task was cancelled, which
    /// disconnects them. Where ``shutdown(within:)`` ends it, it returns together with that, once what was read is delivered. The pool's
    /// streams end then, once what came was read.
    ///
    /// Lost connections are made again meanwhile. Throws the ``PusherError`` for which one of them was given up for good, such as an
    /// unknown application key, which disconnects the others; the streams throw it, too. Returns at once if the pool was shut down before.
    public func run() async throws {
        try await environment.endingGracefully(by: { await self.shutdown() }) {
            let wait = Runs.Wait()
            let isShutDown = change { state in
                guard state.phase != .shutDown else { return true }
                state.connect()
                state.runs.add(wait)
                return false
            }
            if isShutDown { return }
            try await wait.valueEvenIfCancelled { self.change { if $0.runs.cancel(wait) { $0.disconnect() } } }
        }
    }

    /// Ends the pool for good, in good order: each connection as ``Pusher/shutdown(within:)`` ends a client, all at the same time.
    ///
    /// - Parameter limit: The time that all this may take; anything not done by then is left undone.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        change { $0.shutDown() }
        await withTaskGroup { group in
            for client in clients { group.addTask { await client.shutdown(within: limit) } }
        }
        change { $0.endRuns() }
    }

    /// A client is disconnected: with a reason, for good.
    func disconnected(_ client: Pusher, because reason: PusherError?) {
        guard let reason else { return endRunsIfDisconnected() }
        // In turn with what connects the clients, which tells this life's failures from those of the life before.
        change { $0.steps.append(.giveUp(client, reason)) }
    }

    /// A client was given up for good, and the others won't do better.
    func giveUp(because reason: PusherError, of client: Pusher) {
        // Nobody connects it meanwhile: that is a step, too.
        let isDisconnected = client.connection.connectionState == .disconnected
        let isOfThisLife = change { state in
            // A delegate may have heard of it first, and connected the pool again.
            guard isDisconnected, state.isOfThisLife(client) else { return false }
            state.disconnect()
            state.endRuns(reason)
            return true
        }
        if !isOfThisLife { endRunsIfDisconnected() }
    }

    func endRunsIfDisconnected() {
        let (lives, clients) = state.withLock { ($0.lives, $0.clients) }
        guard clients.allSatisfy({ $0.connection.connectionState == .disconnected }) else { return }
        change { state in
            // Not those of a life that has begun since. A shutdown ends them when all is delivered.
            if state.phase == .idle, state.lives == lives { state.endRuns() }
        }
    }
}
