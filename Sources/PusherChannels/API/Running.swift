/// A client's life as structured code.
extension Pusher {
    /// Connects, and returns when the client is disconnected: by ``disconnect()``, by ``shutdown(within:)``, or because the task was
    /// cancelled, which disconnects it.
    ///
    /// Lost connections are made again meanwhile. Throws the ``PusherError`` that ended the connection for good, such as an unknown
    /// application key.
    public func run() async throws {
        let states = connectionStates(buffering: StreamBuffering(limit: 100, overflow: .dropOldest))
        connect()
        try await withTaskCancellationHandler {
            // Also when it is cancelled: then until the connection is closed.
            while let change = await states.nextEvenIfCancelled() {
                if let reason = change.reason, change.new == .disconnected { throw reason }
                if change.new == .disconnected || (Task.isCancelled && change.old == .disconnecting) { return }
            }
        } onCancel: {
            disconnect()
        }
    }

    /// Ends the client in good order: gives up its channels, closes the connection, waits for what is still to be delivered, and ends
    /// the streams; their readers get what is left in them.
    ///
    /// - Parameter limit: How long all this may take; what is not done by then is left undone.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        let scheduler = connection.environment.scheduler
        let done = OneShot<Void>()
        let states = connectionStates(buffering: StreamBuffering(limit: 100, overflow: .dropOldest))
        let timer = scheduler.schedule(at: scheduler.now + limit, label: "shutdown") {
            states.finish()
            done.give(.success(()))
        }
        // Their listeners stay until what has come for them was delivered.
        connection.core.handle(.unsubscribeAll)
        disconnect()
        if connection.connectionState != .disconnected {
            while let change = await states.nextEvenIfCancelled(), change.new != .disconnected {}
        }
        connection.core.afterDeliveries { done.give(.success(())) }
        // It never fails: nobody gives an error.
        try? await withCheckedThrowingContinuation { done.await(with: $0) }
        timer.cancel()
        unsubscribeAll()
        connection.core.finishStreams()
    }
}
