import Logging

/// The calls that a pool makes to its clients.
extension PusherPool {
    /// Changes the state and carries out the resulting steps, in the order of the requests. The steps run outside the lock: a
    /// client may call the application, and the application the pool.
    ///
    /// Runs that have ended are resumed when all steps are done.
    @discardableResult
    func change<Result>(_ body: (inout PoolState) -> Result) -> Result {
        var (result, next, wakeUps) = state.withLock { state in (body(&state), state.beginSteps(), state.wakeUps()) }
        while let step = next {
            carryOut(step)
            (next, wakeUps) = state.withLock { state in (state.nextStep(), state.wakeUps()) }
        }
        for wakeUp in wakeUps { wakeUp() }
        return result
    }

    private func carryOut(_ step: PoolState.Step) {
        switch step {
        case .haveConnections(let count): haveConnections(count)
        case .subscribe(let channel, let number): client(number)?.subscribe(channel.text)
        case .unsubscribe(let channel, let number): client(number)?.unsubscribe(channel.text)
        case .move(let move): self.move(move)
        case .follow(let reading): follow(reading)
        case .then(let body): body()
        case .connectAll:
            cancelScheduled()
            connectGradually(from: 0)
        case .connect(let number): connectIfWanted(number)
        case .disconnectAll: disconnectAll()
        case .cancelScheduled: cancelScheduled()
        case .setDelegate: for client in clients { setDelegate(of: client) }
        case .clientFailed(let client, let reason): clientFailed(client, because: reason)
        case .finishStreams:
            // Not the streams of a life that has begun since.
            guard state.withLock({ $0.phase == .idle }) else { return }
            for client in clients { client.connection.core.finishStreams(forGood: false) }
        }
    }

    private func setDelegate(of client: Pusher) {
        let (delegate, mainActorDelegate) = state.withLock { ($0.delegate, $0.mainActorDelegate) }
        if let mainActorDelegate { client.mainActorDelegate = mainActorDelegate } else { client.delegate = delegate }
    }

    private func client(_ number: Int) -> Pusher? { state.withLock { $0.client(number) } }

    // MARK: Connections

    private func haveConnections(_ count: Int) {
        let before = state.withLock(\.members.count)
        guard count != before else { return }
        for number in before..<max(count, before) { addClient(number) }
        let removed = state.withLock { state in
            let removed = state.members.dropFirst(count)
            state.members.removeLast(removed.count)
            return Array(removed)
        }
        for client in removed.map(\.client) { _ = environment.spawn { await client.shutdown() } }
        // The connection that was still being disconnected may be gone.
        if !removed.isEmpty { endRunsIfDisconnected() }
        if count > before, state.withLock({ $0.phase == .connected }) { connectGradually(from: before) }
        for client in clients { client.connection.reconnectPolicy = rate.policy(options.reconnectPolicy, for: count) }
    }

    private func addClient(_ number: Int) {
        var options = options
        options.logger[metadataKey: LogKey.connection.rawValue] = "\(number)"
        let client = Pusher(key: key, options: options, environment: environment)
        let states = client.connection.core.poolStates(StreamBuffering(limit: 100, overflow: .dropOldest))
        let readings = state.withLock { state in
            state.members.append(PoolState.Member(client: client, states: states))
            return state.readings.removeGone()
        }
        setDelegate(of: client)
        hear(states, of: client)
        for reading in readings { reading.add(client.connection.core.poolUpdates(StreamBuffering())) }
        // The shutdown didn't include this client.
        if state.withLock(\.isShutDown) { _ = environment.spawn { await client.shutdown() } }
    }

    private func connectGradually(from first: Int) {
        let (now, count) = (environment.scheduler.now, state.withLock(\.members.count))
        let scheduled = (first + 1..<max(count, first + 1)).map { number in
            environment.scheduler.schedule(at: now + rate.interval * (number - first), label: "connection \(number) of a pool") {
                [weak self] in self?.change { $0.steps.append(.connect(number)) }
            }
        }
        state.withLock { $0.scheduled += scheduled }
        // Last: a listener that is called when this one is connected finds the others' scheduled.
        connectIfWanted(first)
    }

    func cancelScheduled() {
        for turn in state.withLock({ $0.scheduled.takeAll() }) { turn.cancel() }
    }

    private func disconnectAll() {
        cancelScheduled()
        for client in clients { client.disconnect() }
        endRunsIfDisconnected()
    }

    private func connectIfWanted(_ number: Int) {
        state.withLock { $0.takeTurn(number) }?.connect()
    }

    /// Follows the changes of a client's state, one at a time.
    private func hear(_ states: StreamSource<ConnectionStateChange>, of client: Pusher) {
        states.ask { [weak self, weak states, weak client] batch in
            guard let self, let states, let client, let change = batch.elements.first else { return }
            states.change { $0.wasRead(batch.elements, bytes: batch.bytes) }
            if change.new == .disconnected { disconnected(client, because: change.reason) }
            hear(states, of: client)
        }
    }

    // MARK: Channels and streams

    private func move(_ move: PoolPlacement.Move) {
        guard let from = client(move.from), let to = client(move.to) else { return }
        guard let moved = from.connection.core.move(move.channel) else { return }
        for reading in state.withLock({ $0.readings.removeGone() }) { reading.takeAll(of: from.connection.core) }
        to.connection.core.adopt(moved)
    }

    private func follow(_ reading: PoolReading) {
        let (clients, others) = state.withLock { state in
            let others = state.readings.removeGone()
            state.readings.append(Weak(reading))
            return (state.clients, others)
        }
        withExtendedLifetime(others) {}
        for client in clients { reading.add(client.connection.core.poolUpdates(StreamBuffering())) }
    }
}
