/// Carries out commands. They reach the outside world only here. Used by one thread at a time.
extension ClientCore {
    func run(_ work: Work) {
        var known = work.socket
        var calls = work.calls[...]
        func socket() -> any WebSocket {
            let socket = known ?? self.socket
            known = socket
            return socket
        }
        for command in work.commands {
            switch command {
            case .send(.pong): socket().sendUnlessBusy(EnvelopeEncoder.encode(.pong))
            case .send(let message): socket().send(EnvelopeEncoder.encode(message))
            case .openSocket(let attempt, let secure): open(socket(), attempt, secure: secure)
            case .closeSocket(_, let code, let reason): socket().close(code: code, reason: reason)
            case .authorize(let attempt, let socketID): authorize(attempt, socketID: socketID, calls.removeFirst())
            case .cancelAuthorization(let attempt, let time): cancel(.channel(attempt), unansweredFor: time)
            case .authorizeUser(let attempt, let socketID): authorizeUser(attempt, socketID: socketID, calls.removeFirst())
            case .cancelUserAuthorization(let attempt, let time): cancel(.user(attempt), unansweredFor: time)
            case .decrypt(let event, let secret): opened(event, EncryptedData.open(event.data, with: secret))
            case .log(let line, let context): write(line, context)
            }
        }
    }

    private func opened(_ event: ConnectionMachine.EncryptedEvent, _ result: Result<String, ConnectionMachine.DecryptionFailure>)
    {
        change { state, now in
            state.router.arrival = state.machine.encryptedEventsSince(of: event.channel)
            state.handle(.opened(event, result), at: now)
        }
    }

    // MARK: The socket

    /// The socket in use, which is made when it is first needed.
    var socket: any WebSocket {
        if let socket = readState(\.outbox.socket) { return socket }
        let made = environment.makeWebSocket()
        made.delegate = self
        return change { state in
            if let socket = state.outbox.socket { return socket }
            state.outbox.socket = made
            return made
        }
    }

    private func open(_ socket: any WebSocket, _ attempt: ConnectionAttempt, secure: Bool) {
        let request = request(secure: secure)
        guard let request else {
            let failure = TransportError(.unsupported, "The app key is empty")
            return handle(.socketClosed(.failed(failure), attempt))
        }
        socket.open(request, attempt: attempt)
        // If the socket was replaced meanwhile, it is closed before it was open, and nothing is sent on it.
        if readState({ $0.outbox.socket !== socket }) { socket.close(code: 1000, reason: "") }
    }

    /// Returns the request that opens a connection to the current server; nil without a key.
    func request(secure: Bool) -> WebSocketRequest? {
        let (target, server) = readState { ($0.outbox.target, $0.machine.session.servers.current) }
        return target.key.isEmpty ? nil : target.request(to: server, secure: secure)
    }

    /// Puts another server in the place of the first one.
    func move(to server: PusherServer) {
        change { state, now in
            state.outbox.target.servers[0] = server
            state.handle(.moved(secure: server.useTLS), at: now)
        }
    }

    /// Replaces the socket; returns the previous one.
    func replaceSocket(_ socket: any WebSocket) -> (any WebSocket)? {
        change { state in
            defer { state.outbox.socket = socket }
            return state.outbox.socket
        }
    }

    // MARK: Authorizations

    private func authorize(_ attempt: SubscriptionAttempt, socketID: SocketID, _ call: AuthorizationCall) {
        ask(call, { .authorized(attempt, $0) }) { completion in
            peers.authorizer.authorize(
                channel: attempt.channel.text, socketID: socketID, session: call.session.traced(in: environment),
                channelUser: { call.channelUser?().channelData }, completion: completion)
        }
    }

    private func authorizeUser(_ attempt: UserMachine.Attempt, socketID: SocketID, _ call: AuthorizationCall) {
        ask(call, { .userAuthorized(attempt, $0) }) { completion in
            peers.userAuthorizer.authorize(
                socketID: socketID, session: call.session.traced(in: environment), completion: completion)
        }
    }

    private func ask<Auth: Sendable>(
        _ call: AuthorizationCall, _ input: @escaping @Sendable (Result<Auth, AuthorizationFailure>) -> Input,
        _ request: (@escaping AuthCall.Completion<Auth>) -> AuthCall.Cancel
    ) {
        let asked = environment.scheduler.now
        let cancel = withSpan(of: call.id) {
            request { [weak self] result in
                guard let self else { return }
                if call.end() != nil {
                    var failure: AuthorizationFailure?
                    if case .failure(let reason) = result { failure = reason }
                    telemetry.metrics.authorized(failure == nil, after: environment.scheduler.now - asked)
                    endSpan(of: call.id, failure?.error)
                }
                change { state, now in
                    _ = state.outbox.remove(call.id)
                    state.handle(input(result), at: now)
                }
            }
        }
        call.keep(cancel)
    }

    /// Cancels an authorization. The authorizer may report that as a failure, but it counts as one only after a time-out.
    private func cancel(_ authorization: AuthorizationID, unansweredFor time: Duration?) {
        guard let call = withState({ $0.outbox.remove(authorization) }), let cancel = call.end() else { return }
        var reason = PusherError(.transport(.cancelled), message: "the authorization is wanted no longer")
        if let time {
            telemetry.metrics.authorized(false, after: time)
            reason = PusherError(.timedOut, message: "no authorization within \(time)")
        }
        endSpan(of: authorization, reason)
        cancel()
    }

    // MARK: Reading

    /// Passes on orders, outside the lock, until there are no more.
    func orderReading() {
        // Each attempt begins with reading on, so without a socket there is nothing to do.
        while let (reading, socket) = withState({ state in state.outbox.reading.next().map { ($0, state.outbox.socket) } }) {
            socket?.setReading(reading)
        }
    }
}
