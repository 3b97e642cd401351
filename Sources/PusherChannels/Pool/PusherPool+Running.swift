/// A pool's life.
extension PusherPool {
    /// Connects: the first connection at once, the others at the pool's rate.
    public func connect() {
        change { state in
            guard state.phase != .shutDown else { return }
            state.phase = .connected
            state.steps.append(.connectAll)
        }
    }

    /// Disconnects all connections. Subscriptions remain wanted: the next ``connect()`` makes them again.
    public func disconnect() {
        change { state in
            if state.phase == .connected { state.phase = .idle }
            state.steps.append(.disconnectAll)
        }
    }

    /// Connects, and returns when all connections are disconnected: by ``disconnect()``, by ``shutdown(within:)``, or because the task was
    /// cancelled, which disconnects them. The pool's streams end then, once what came was read.
    ///
    /// Lost connections are made again meanwhile. Throws the ``PusherError`` for which one of them was given up for good, such as an
    /// unknown application key, which disconnects the others; the streams throw it, too. Returns at once if the pool was shut down before.
    public func run() async throws {
        try await environment.endingGracefully(by: { await self.shutdown() }) {
            let end = OneShot<Void>()
            defer {
                // Those of a run that has begun since go on.
                if state.withLock(\.runs.isEmpty) {
                    for client in clients { client.connection.core.finishStreams(forGood: false) }
                }
            }
            let isBegun = state.withLock { state in
                guard state.phase != .shutDown else { return false }
                state.runs.append(end)
                return true
            }
            guard isBegun else { return }
            connect()
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { end.await(with: $0) }
            } onCancel: {
                disconnect()
            }
        }
    }

    /// Ends the pool for good, in good order: each connection as ``Pusher/shutdown(within:)`` ends a client, all at the same time.
    ///
    /// - Parameter limit: How long all this may take; what is not done by then is left undone.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        change { state in
            state.phase = .shutDown
            state.steps.append(.forgetTurns)
        }
        await withTaskGroup { group in
            for client in clients { group.addTask { await client.shutdown(within: limit) } }
        }
        endRuns(.success(()))
    }

    /// A client is disconnected: with a reason, for good, and the others won't do better.
    func clientDisconnected(because reason: PusherError?) {
        guard let reason else { return endRunsIfDisconnected() }
        endRuns(.failure(reason))
        disconnect()
    }

    func endRunsIfDisconnected() {
        let isOver = state.withLock { $0.phase != .connected }
        if isOver, clients.allSatisfy({ $0.connection.connectionState == .disconnected }) { endRuns(.success(())) }
    }

    private func endRuns(_ result: Result<Void, any Error>) {
        for run in state.withLock({ $0.runs.takeAll() }) { run.give(result) }
    }
}
