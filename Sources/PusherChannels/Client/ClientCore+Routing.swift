import Dispatch

/// The one place where outputs are passed on, under the lock: to streams, to the delivery queue, or to be carried out.
extension ClientCore {
    /// Routes the machine's outputs, and those that routing brings about.
    func route(_ state: inout State, at now: Instant) {
        if state.telemetry.logLimiter.hasSummaries(at: now) { logWhatWasLeftOut(at: now, &state) }
        repeat {
            var memory: [Output] = []
            swap(&memory, &state.router.memory)
            var outputs = state.machine.takeOutputs(reusing: consume memory)
            if outputs.count > 8 { state.router.deliveries.reserveCapacity(outputs.count) }
            let (dropped, areOver) = readers.change { streams in
                for output in outputs { route(output, at: now, &state, &streams) }
                // The end of the last run also ends the client's streams, unless the client is connected again.
                if state.waits.runs.lastHasEnded, state.machine.isIdle {
                    state.waits.subscriptions.endAll(.clientDisconnected)
                    streams.finish()
                }
                streams.takeWakeUps(into: &state.router.wakeUps)
                return (streams.dropped, streams.over > 0)
            }
            outputs.removeAll(keepingCapacity: outputs.capacity <= 1024)
            swap(&outputs, &state.router.memory)
            enqueue(at: now, &state)
            state.telemetry.tally.noteDropped(state.backlog.dropped + dropped)
            let isOver = areOver || state.backlog.isOver || state.machine.isOverWithDecrypting
            if isOver != state.router.areReadersOver {
                state.router.areReadersOver = isOver
                state.machine.handle(.readersChanged(areOver: isOver), at: now)
            }
        } while !state.machine.outputs.isEmpty
    }

    private func route(
        _ output: Output, at now: Instant, _ state: inout State, _ streams: inout Streams
    ) {
        state.telemetry.note(output, state.machine.subscriptions, at: now)
        switch output {
        case .deliver(let delivery): route(delivery, at: now, &state, &streams)
        case .command(let command): route(command, at: now, &state)
        case .pauseLimitReached(let time):
            log(notRead: streams.pauseLimitReached(), at: now, &state)
            state.backlog.pauseLimitReached(receivedUpTo: time)
        case .setReading(let reading): state.outbox.reading.wanted = reading
        case .log(let line): log(line, at: now, &state)
        }
    }

    private func route(_ command: Output.Command, at now: Instant, _ state: inout State) {
        switch command {
        case .openSocket, .closeSocket: state.outbox.reading.forgetEarlier()
        case .authorize(let attempt, _): state.outbox.begin(.channel(attempt))
        case .authorizeUser(let attempt, _): state.outbox.begin(.user(attempt))
        // One pong answers all the pings of a read: a second one would say nothing more.
        case .send(.pong) where state.outbox.commands.last == .send(.pong): return
        case .send(let message) where telemetry.logsMessages:
            log(.sent(EnvelopeEncoder.encode(message.withoutSecrets)), at: now, &state)
        default: break
        }
        state.outbox.commands.append(command)
    }

    private func route(
        _ delivery: Delivery, at now: Instant, _ state: inout State, _ streams: inout Streams
    ) {
        if let line = delivery.logLine { log(line, at: now, &state) }
        if case .subscriptionFailed(_, let failure) = delivery, failure.isRepeated { return }
        endWhatWaits(for: delivery, &state, &streams)
        // No server can be made to wait for readers that don't read the state changes of failing attempts.
        if case .stateChanged(_, let new, _) = delivery, new != .connected {
            log(notRead: streams.states.pauseLimitReached(), at: now, &state)
        }
        // Closures hear only events that come while they are bound, so an event that a stream took isn't kept for closures bound
        // later.
        if !streams.isEmpty, streams.append(delivery, calls.decoder, at: state.router.arrival ?? now),
            !state.listeners.hear(delivery)
        {
            return
        }
        if state.backlog.admits(delivery, receivedUpTo: state.router.arrival ?? now) { state.router.deliveries.append(delivery) }
    }

    private func log(notRead streams: [(channel: Name?, name: String)], at now: Instant, _ state: inout State) {
        for late in streams { log(.streamNotRead(late.name, channel: late.channel), at: now, &state) }
    }

    /// Ends the waits for outcomes that can't come anymore, and for those that have come.
    private func endWhatWaits(for delivery: Delivery, _ state: inout State, _ streams: inout Streams) {
        switch delivery {
        case .subscribed(let channel, _):
            state.waits.subscriptions.end(of: channel, nil)
        case .subscriptionFailed(let channel, let failure):
            // It is retried, and may have succeeded by now.
            if failure.error.isRetryable { break }
            state.waits.subscriptions.end(of: channel, failure.error)
            streams.finish(ofChannel: channel, failure.error)
        case .stateChanged(let old, let new, let reason):
            let wasAskedFor: PusherError = state.machine.isShutDown ? .clientShutDown : .clientDisconnected
            if new == .disconnected { state.waits.subscriptions.endAll(reason ?? wasAskedFor) }
            state.waits.runs.connectionChanged(
                from: old, to: new, because: reason, isShuttingDown: state.machine.isShutDown)
        case .signedIn, .signInFailed:
            state.listeners.user.signInEnded()
        default:
            break
        }
    }

    /// Notes that the server has to wait for readers from now on, or no longer has to.
    func readersHaveCrossed() {
        change { _ in }
    }

    // MARK: The delivery queue

    /// Queues all deliveries for one hop.
    private func enqueue(at now: Instant, _ state: inout State) {
        if state.router.deliveries.isEmpty { return }
        let deliveries = state.router.deliveries
        state.router.deliveries = []
        let batch = UndeliveredBatch(deliveries: deliveries, listenersMade: state.listeners.channelsMade)
        guard calls.queue != nil else { return state.router.batches.append(batch) }
        let bytes = deliveries.reduce(0) { $0 + $1.size }
        state.backlog.add(count: deliveries.count, bytes: bytes)
        state.telemetry.tally.noteWaiting(deliveries.count)
        state.router.queue(.deliver(batch, bytes: bytes, since: now))
    }

    /// Makes hops to the delivery queue, outside the lock.
    func hop(_ count: Int) {
        for _ in 0..<count { calls.queue?.async { [self] in hopArrived() } }
    }

    private func hopArrived() {
        let (deliveries, hop) = withState { state -> (Deliveries?, Router.Hop?) in
            let hop = state.router.takeHop()
            guard case .deliver(let batch, _, _) = hop else { return (nil, hop) }
            return (resolve(batch, &state), hop)
        }
        switch hop {
        case .deliver(let batch, let bytes, let since):
            telemetry.metrics.delivered(after: environment.scheduler.now - since)
            if let deliveries { deliver(deliveries) }
            delivered(batch.deliveries.count, bytes: bytes)
        case .call(let body): body()
        case nil: break
        }
    }

    /// Notes a change in the number of calls that wait for a delegate on the main actor; it is negative when calls were made.
    func noteWaitingOnMain(_ calls: Int, bytes: Int) {
        guard calls < 0 else {
            return change { state in
                state.backlog.add(count: calls, bytes: bytes)
                state.telemetry.tally.noteWaiting(calls)
            }
        }
        // By now there may be another delegate, which has to be told of losses on the client's queue.
        guard let queue = self.calls.queue else { return delivered(-calls, bytes: -bytes) }
        queue.async { [self] in delivered(-calls, bytes: -bytes) }
    }

    func delivered(_ count: Int, bytes: Int) {
        let (losses, since) = change { state in
            state.telemetry.tally.noteWaiting(-count)
            return state.backlog.delivered(count, bytes: bytes)
        }
        for channel in losses { call(.gap(channel: channel, since: since), upTo: .max) }
    }

    /// Calls the closure once everything that was read before the client was shut down is decrypted and delivered, and logged.
    func afterLastDeliveries(_ body: @escaping @Sendable () -> Void) {
        change { $0.waits.decryption.append { [self] in afterDeliveries { [self] in afterLines(body) } } }
    }

    private func afterLines(_ body: @escaping @Sendable () -> Void) {
        guard calls.queue != nil else { return body() }
        let passOn = { @Sendable [environment] in environment.log(body) }
        let isDraining = withState { state in
            if state.outbox.isDraining { state.outbox.drainWaits.append(passOn) }
            return state.outbox.isDraining
        }
        if !isDraining { passOn() }
    }

    /// Calls the closure once everything that waits now is delivered.
    func afterDeliveries(_ body: @escaping @Sendable () -> Void) {
        let passOn = { @Sendable [self] in
            if let onMain = readState(\.listeners.mainActorDelegate) { onMain.afterCalls(body) } else { body() }
        }
        let (isOver, hops) = withState { state in
            if calls.queue != nil {
                state.router.queue(.call(passOn))
                return (false, state.router.takeHopsDue())
            } else if state.outbox.isDraining {
                state.outbox.drainWaits.append(passOn)
            } else {
                return (true, 0)
            }
            return (false, 0)
        }
        hop(hops)
        if isOver { passOn() }
    }
}
