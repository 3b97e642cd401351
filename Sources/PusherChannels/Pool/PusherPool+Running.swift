/// A pool's life.
extension PusherPool {
    /// Connects: the first connection at once, the others at the pool's rate.
    public func connect() {
        end(change { $0.connect() })
    }

    /// Disconnects all connections. Subscriptions remain wanted: the next ``connect()`` makes them again.
    public func disconnect() {
        change { $0.disconnect() }
    }

    /// Connects, and returns when all connections are disconnected: by ``disconnect()``, by ``shutdown(within:)``, or because the task was
    /// cancelled, which disconnects them. The pool's streams end then, once what came was read.
    ///
    /// Lost connections are made again meanwhile. Throws the ``PusherError`` for which one of them was given up for good, such as an
    /// unknown application key, which disconnects the others; the streams throw it, too. Returns at once if the pool was shut down before.
    public func run() async throws {
        try await environment.endingGracefully(by: { await self.shutdown() }) {
            let run = PoolState.Run(end: OneShot())
            // Those of a run that has begun since go on, and so do those of a life; a shutdown ends them when all is decrypted.
            defer { change { if $0.runs.isEmpty, $0.phase == .idle { $0.steps.append(.finishStreams) } } }
            end(
                change { state in
                    let ended = state.connect()
                    if state.phase == .shutDown { run.end.give(.success(())) } else { state.runs.append(run) }
                    return ended
                })
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { run.end.await(with: $0) }
            } onCancel: {
                cancel(run)
            }
        }
    }

    private func cancel(_ run: PoolState.Run) {
        change { state in
            guard let index = state.runs.firstIndex(where: { $0.end === run.end }) else { return }
            state.runs[index].isCancelled = true
            state.disconnect()
        }
    }

    /// Ends the pool for good, in good order: each connection as ``Pusher/shutdown(within:)`` ends a client, all at the same time.
    ///
    /// - Parameter limit: How long all this may take; what is not done by then is left undone.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        change { $0.shutDown() }
        await withTaskGroup { group in
            for client in clients { group.addTask { await client.shutdown(within: limit) } }
        }
        end(state.withLock { $0.runs.takeAll() })
    }

    /// A client is disconnected: with a reason, for good, and the others won't do better.
    func clientDisconnected(because reason: PusherError?) {
        guard let reason else { return endRunsIfDisconnected() }
        // Disconnected first: who hears of the failure may connect again.
        end(
            change { state in
                state.disconnect()
                return state.runs.takeAll()
            }, .failure(reason))
    }

    func endRunsIfDisconnected() {
        let (lives, clients) = state.withLock { ($0.lives, $0.clients) }
        guard clients.allSatisfy({ $0.connection.connectionState == .disconnected }) else { return }
        end(
            state.withLock { state in
                // Not those of a life that has begun since.
                state.phase != .connected && state.lives == lives ? state.runs.takeAll() : []
            })
    }

    private func end(_ runs: [PoolState.Run], _ result: Result<Void, any Error> = .success(())) {
        for run in runs { run.end.give(result) }
    }
}
