/// A client's life as structured concurrency.
extension Pusher {
    /// Subscribes to a channel, and returns it once the server has confirmed the subscription.
    ///
    /// Waits until the client is connected, and while the SDK retries, for example because an authorization endpoint is down. An
    /// error leaves nothing behind: the channel is unsubscribed again, unless another caller has subscribed to it, too.
    ///
    /// A stream has only the updates after its creation. To miss nothing, create it first, from the channel that
    /// ``subscribe(_:auth:onMemberAdded:onMemberRemoved:onSubscriptionCountChanged:)`` returns.
    ///
    /// - Parameters:
    ///   - channelName: The channel's name, prefix included.
    ///   - auth: An authorization to use once, instead of requesting one.
    ///   - limit: The maximum time to wait; nil for no limit.
    /// - Throws: The ``PusherError`` with which the channel was refused or the client ended; `timedOut`, with the latest problem
    ///   in its message, if the time runs out; `CancellationError` if the task is cancelled, or runs in a `ServiceGroup` that is
    ///   shutting down.
    public func subscribe(
        to channelName: String, auth: PusherAuth? = nil, within limit: Duration? = .seconds(30)
    ) async throws -> PusherChannel {
        try await confirmed(subscribe(channelName, auth: auth), within: limit)
    }

    /// Subscribes to a presence channel as ``subscribe(to:auth:within:)`` does, and returns it as a ``PusherPresenceChannel``.
    public func subscribe(
        toPresenceChannel channelName: String, auth: PusherAuth? = nil, within limit: Duration? = .seconds(30)
    ) async throws -> PusherPresenceChannel {
        try await confirmed(subscribeToPresenceChannel(channelName: channelName, auth: auth), within: limit)
    }

    private func confirmed<Channel: PusherChannel>(_ channel: Channel, within limit: Duration?) async throws -> Channel {
        let core = connection.core
        do {
            try await core.awaitSubscription(to: channel.channel, number: channel.number, within: limit)
        } catch {
            core.withdraw(channel.channel, number: channel.number)
            throw error
        }
        return channel
    }

    /// Connects, and returns when the client is disconnected: by ``disconnect()``, or by cancellation of the task, which
    /// disconnects it. If ``shutdown(within:)`` ends the client, both return together. A ``connect()`` after a ``disconnect()``,
    /// before the server has replied to the close, makes another connection in the same run.
    ///
    /// The client's streams then end, once their elements have been read; streams created later are for the next time it is
    /// connected. Only ``shutdown(within:)`` waits for pending calls of closures and delegates, and for events of encrypted
    /// channels that are still to be decrypted. If this call is the program's last line, end the program by a shutdown.
    ///
    /// Meanwhile, lost connections are retried. Throws the ``PusherError`` that ended the connection permanently, such as an
    /// unknown application key; the client's streams throw it, too. Returns at once if the client was already shut down.
    public func run() async throws {
        try await connection.environment.endingGracefully(by: { await self.shutdown() }) {
            try await connection.core.connectUntilDisconnected()
        }
    }

    /// Shuts the client down permanently and gracefully: unsubscribes from its channels, closes the connection, waits for pending
    /// deliveries, and ends the streams, whose readers still get the remaining elements. The client can't be connected again:
    /// ``connect()`` does nothing, and ``run()`` returns with the shutdown, or at once if it is called later.
    ///
    /// - Parameter limit: The maximum time for all of this. Anything not done by then is left undone, and the log says how much
    ///   was still waiting on the client's queue.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        let scheduler = connection.environment.scheduler
        let isInTime = OneShot<Bool>()
        // not a mutant: any limit has room for the last change
        let states = connectionStates(buffering: StreamBuffering(limit: 100, overflow: .dropOldest))
        let timer = scheduler.schedule(at: scheduler.now + limit, label: "shutdown") {
            states.finish()
            isInTime.give(.success(false))
        }
        // The channels' listeners stay until everything that has come for them is delivered.
        connection.core.handle(.shutDown)
        if connection.connectionState != .disconnected {
            while let change = await states.nextEvenIfCancelled(), change.new != .disconnected {}
        }
        connection.core.afterLastDeliveries { isInTime.give(.success(true)) }
        // It never throws: only successes are given.
        let wasInTime = try? await isInTime.valueEvenIfCancelled()
        timer.cancel()
        if wasInTime == false { connection.core.logUndelivered() }
        // Before the channels are unsubscribed: callers that wait for one get the reason.
        connection.core.finishStreams(forGood: true)
        unsubscribeAll()
    }
}
