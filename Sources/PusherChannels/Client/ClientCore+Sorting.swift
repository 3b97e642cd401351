import Dispatch

/// The one place where effects are passed on, under the lock: to streams, to the delivery queue, or to be carried out.
extension ClientCore {
    /// Sorts the machine's effects, and those that sorting brings about.
    func sort(_ state: inout State, at now: Instant) {
        if state.logLimiter.hasSummaries(at: now) { logWhatWasLeftOut(at: now, &state) }
        repeat {
            var deliveries: [Delivery] = []
            if state.effects.count > 8 { deliveries.reserveCapacity(state.effects.count) }
            for index in state.effects.indices {
                state.tally.note(state.effects[index], subscriptions: state.machine.subscriptions, at: now)
                state.spans.note(state.effects[index], subscriptions: state.machine.subscriptions, at: now)
                switch state.effects[index] {
                case .deliver(let delivery): sort(delivery, at: now, &state, &deliveries)
                case .pauseLimitReached(let time):
                    log(notRead: state.streams.pauseLimitReached(), at: now, &state)
                    state.backlog.pauseLimitReached(heardUpTo: time)
                case .setReading(let reading): state.reading.wanted = reading
                case .openSocket, .closeSocket:
                    state.reading.forgetEarlier()
                    state.commands.append(state.effects[index])
                case .log(let line, _): log(line, at: now, &state)
                case .send(.pong) where state.commands.last == .send(.pong):
                    break  // One pong answers all the pings of a read: a second one would say nothing more.
                case .send(let message) where logsMessages:
                    log(.sent(EnvelopeEncoder.encode(message.withoutSecrets)), at: now, &state)
                    state.commands.append(state.effects[index])
                default: state.commands.append(state.effects[index])
                }
            }
            state.effects.removeAll(keepingCapacity: state.effects.capacity <= 1024)
            enqueue(deliveries, at: now, &state)
            // The end of the last run also ends the client's streams, unless the client is connected again.
            if state.runs.lastHasEnded, state.machine.isIdle { state.finishStreams(forGood: false) }
            state.tally.noteDropped(state.backlog.dropped + state.streams.dropped)
            let isOver = state.backlog.isOver || state.streams.over > 0 || state.machine.isOverWithDecrypting
            if isOver != state.isReaderOver {
                state.isReaderOver = isOver
                state.machine.handle(.readersChanged(areOver: isOver), at: now, into: &state.effects)
            }
        } while !state.effects.isEmpty
    }

    private func sort(_ delivery: Delivery, at now: Instant, _ state: inout State, _ deliveries: inout [Delivery]) {
        if let line = delivery.logLine { log(line, at: now, &state) }
        endWhatWaits(for: delivery, &state)
        // No server can be made to wait for readers that don't read the state changes of failing attempts.
        if case .stateChanged(_, let new, _) = delivery, new != .connected {
            log(notRead: state.streams.states.pauseLimitReached(), at: now, &state)
        }
        // Closures hear only events that come while they are bound, so an event that a stream took isn't kept for closures bound
        // later.
        if !state.streams.isEmpty, state.streams.append(delivery, eventDecoder, at: state.came ?? now),
            !state.listeners.hear(delivery)
        {
            return
        }
        if state.backlog.admits(delivery, heardUpTo: state.came ?? now) { deliveries.append(delivery) }
    }

    private func log(notRead streams: [(channel: Name?, name: String)], at now: Instant, _ state: inout State) {
        for late in streams { log(.streamNotRead(late.name, channel: late.channel), at: now, &state) }
    }

    /// Ends the waits for outcomes that can't come anymore, and for those that have come.
    private func endWhatWaits(for delivery: Delivery, _ state: inout State) {
        switch delivery {
        case .subscribed(let channel):
            state.waits.end(of: channel, nil)
        case .subscriptionFailed(let channel, let failure):
            // It is retried, and may have succeeded by now.
            if failure.error.isRetryable { break }
            state.waits.end(of: channel, failure.error)
            state.streams.finish(ofChannel: channel, failure.error)
        case .stateChanged(let old, let new, let reason):
            let wasAskedFor: PusherError = state.machine.isShutDown ? .clientShutDown : .clientDisconnected
            if new == .disconnected { state.waits.endAll(reason ?? wasAskedFor) }
            state.runs.connectionChanged(
                from: old, to: new, because: reason, isShuttingDown: state.machine.isShutDown)
        case .signedIn, .signInFailed:
            state.listeners.user.signInEnded()
        default:
            break
        }
    }

    // MARK: The delivery queue

    /// Queues all deliveries in one hop. It is made under the lock, so hops are in the order in which things happened.
    private func enqueue(_ deliveries: [Delivery], at now: Instant, _ state: inout State) {
        guard !deliveries.isEmpty else { return }
        let batch = UndeliveredBatch(deliveries: deliveries, listenersMade: state.listeners.channelsMade)
        guard let deliveryQueue else { return state.deliveries.append(batch) }
        let bytes = deliveries.reduce(0) { $0 + $1.size }
        state.backlog.add(count: deliveries.count, bytes: bytes)
        state.tally.noteWaiting(deliveries.count)
        deliveryQueue.async { [self] in
            metrics.delivered(after: environment.scheduler.now - now)
            deliver(withState { resolve(batch, &$0) })
            delivered(deliveries.count, bytes: bytes)
        }
    }

    /// Notes a change in the number of calls that wait for a delegate on the main actor; it is negative when calls were made.
    func noteWaitingOnMain(_ calls: Int, bytes: Int) {
        guard calls < 0 else {
            return change { state in
                state.backlog.add(count: calls, bytes: bytes)
                state.tally.noteWaiting(calls)
            }
        }
        // By now there may be another delegate, which has to be told of losses on the client's queue.
        guard let deliveryQueue else { return delivered(-calls, bytes: -bytes) }
        deliveryQueue.async { [self] in delivered(-calls, bytes: -bytes) }
    }

    func delivered(_ count: Int, bytes: Int) {
        let (losses, since) = change { state in
            state.tally.noteWaiting(-count)
            return state.backlog.delivered(count, bytes: bytes)
        }
        for channel in losses { call(.gap(channel: channel, since: since), upTo: .max) }
    }

    /// Calls the closure once everything that was read before the client was shut down is decrypted and delivered, and logged.
    func afterLastDeliveries(_ body: @escaping @Sendable () -> Void) {
        change { $0.decryptionWaits.append { [self] in afterDeliveries { [self] in afterLines(body) } } }
    }

    private func afterLines(_ body: @escaping @Sendable () -> Void) {
        guard deliveryQueue != nil else { return body() }
        let passOn = { @Sendable [environment] in environment.log(body) }
        let isDraining = withState { state in
            if state.isDraining { state.drainWaits.append(passOn) }
            return state.isDraining
        }
        if !isDraining { passOn() }
    }

    /// Calls the closure once everything that waits now is delivered.
    func afterDeliveries(_ body: @escaping @Sendable () -> Void) {
        let passOn = { @Sendable [self] in
            if let onMain = readState(\.listeners.mainActorDelegate) { onMain.afterCalls(body) } else { body() }
        }
        let isOver = withState { state in
            if let deliveryQueue {
                deliveryQueue.async(execute: passOn)
            } else if state.isDraining {
                state.drainWaits.append(passOn)
            } else {
                return true
            }
            return false
        }
        if isOver { passOn() }
    }
}
