/// A client's life as structured code.
extension Pusher {
    /// Subscribes to a channel, and returns it once the server has confirmed that.
    ///
    /// A client that isn't connected is waited for, and so is what the SDK tries again by itself, such as an authorization endpoint that is
    /// out of order. After an error nothing is left behind: the channel is given up again, unless somebody else has asked for it, too.
    ///
    /// A stream has what happens after it is made: to miss nothing, make it before, of the channel that
    /// ``subscribe(_:auth:onMemberAdded:onMemberRemoved:onSubscriptionCountChanged:)`` returns.
    ///
    /// - Parameters:
    ///   - channelName: The channel's name, prefix included.
    ///   - auth: An authorization to use once, instead of asking for one.
    ///   - limit: The longest that this may take; nil for no limit.
    /// - Throws: The ``PusherError`` for which the channel was refused, or the client ended; `timedOut` with the latest trouble in its
    ///   message when the time is over; `CancellationError` when the task is cancelled, or runs in a `ServiceGroup` that is asked to end.
    public func subscribe(
        to channelName: String, auth: PusherAuth? = nil, within limit: Duration? = .seconds(30)
    ) async throws -> PusherChannel {
        try await confirmed(subscribe(channelName, auth: auth), within: limit)
    }

    /// Subscribes to a presence channel as ``subscribe(to:auth:within:)`` does, and returns it as one.
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

    /// Connects, and returns when the client is disconnected: by ``disconnect()``, or because the task was cancelled, which disconnects
    /// it. Where ``shutdown(within:)`` ends it, it returns together with that. A ``connect()`` before the server has answered the close of
    /// a ``disconnect()`` makes another connection in the same run.
    ///
    /// The streams that the client has then end, once what came was read; those that are made later are for the next time that it is
    /// connected. Only ``shutdown(within:)`` waits for closures and delegates that are still to be called, and for events of encrypted
    /// channels that are still to be decrypted: have a program whose last line is this call end by a shutdown.
    ///
    /// Lost connections are made again meanwhile. Throws the ``PusherError`` that ended the connection for good, such as an unknown
    /// application key; its streams throw it, too. Returns at once if the client was shut down before.
    public func run() async throws {
        try await connection.environment.endingGracefully(by: { await self.shutdown() }) {
            try await connection.core.connectUntilDisconnected()
        }
    }

    /// Ends the client for good, in good order: gives up its channels, closes the connection, waits for what is still to be delivered, and
    /// ends the streams; their readers get what is left in them. Nothing connects it again: ``connect()`` does nothing, and ``run()``
    /// returns with the shutdown, or at once where it is called later than this.
    ///
    /// - Parameter limit: The time that all this may take. Anything not done by then is left undone, and the log says how much still waited
    ///   on the client's queue.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        let scheduler = connection.environment.scheduler
        let isInTime = OneShot<Bool>()
        let states = connectionStates(buffering: StreamBuffering(limit: 100, overflow: .dropOldest))
        let timer = scheduler.schedule(at: scheduler.now + limit, label: "shutdown") {
            states.finish()
            isInTime.give(.success(false))
        }
        // The channels' listeners stay until what has come for them was delivered.
        connection.core.handle(.shutDown)
        if connection.connectionState != .disconnected {
            while let change = await states.nextEvenIfCancelled(), change.new != .disconnected {}
        }
        connection.core.afterLastDeliveries { isInTime.give(.success(true)) }
        // It never fails: nobody gives an error.
        let wasInTime = try? await isInTime.valueEvenIfCancelled()
        timer.cancel()
        if wasInTime == false { connection.core.logUndelivered() }
        // Before the channels are given up: who waits for one is told the reason.
        connection.core.finishStreams(forGood: true)
        unsubscribeAll()
    }
}
