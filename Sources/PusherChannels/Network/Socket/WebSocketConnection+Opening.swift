#if os(Linux)

/// Opens a connection: waits for its turn, connects over the route, and upgrades.
extension WebSocketConnection {
    func open() {
        if let failure = loop.failure { return fail(failure) }
        let (upgrade, route): (UpgradeRequest, Route)
        do throws(TransportError) {
            upgrade = try UpgradeRequest(request)
            route = Route(
                host: request.host, port: request.port, hop: try request.effectiveProxy.map { .tunnel($0) } ?? .direct,
                tls: request.secure ? request.tls : nil)
        } catch {
            return fail(error)
        }
        queue = route.name
        registry.enter(key, to: route.name) { [weak self] in self?.connect(route, upgrade) }
    }

    private func connect(_ route: Route, _ upgrade: UpgradeRequest) {
        guard case .waiting = phase else { return }
        let connector = Connector(route, loop: loop)
        connector.onStage = onStage
        phase = .connecting(connector)
        connector.start(resolve: resolve) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let stream): self.upgrade(stream, upgrade)
            case .failure(let failure): fail(failure)
            }
        }
    }

    private func upgrade(_ stream: ByteStream, _ upgrade: UpgradeRequest) {
        stream.owner = self
        let random = loop.environment.random
        phase = .upgrading(stream, UpgradeExchange(request, as: upgrade, nonce: (random(), random())))
        let limit = loop.environment.timeouts.stage
        timer.set(after: limit) { [weak self] in
            self?.fail(.timedOut("\(upgrade.endpoint) didn't answer the WebSocket upgrade", after: limit))
        }
        streamWritable()
    }

    func readResponse(_ bytes: UnsafeRawBufferPointer, on stream: ByteStream, _ exchange: inout UpgradeExchange) {
        var cursor = ByteCursor(bytes)
        do throws(TransportError) {
            switch try exchange.read(&cursor) {
            case nil: phase = .upgrading(stream, exchange)
            case .upgraded: opened(stream, early: Array(cursor.take(upTo: cursor.remaining)))
            case .redirected(let next):
                leave()
                request = next
                open()
            }
        } catch {
            fail(error)
        }
    }

    func opened(_ stream: ByteStream, early bytes: [UInt8]) {
        timer.cancel()
        leaveQueue()
        phase = .open(stream)
        onStage?(.upgrade)
        delegate?.webSocketDidOpen(attempt: attempt)
        receive(early: bytes)
    }

    func upgradeEnded(_ end: StreamEnd) {
        let endpoint = endpointName(host: request.host, port: request.port)
        // With TLS 1.3, a server refuses a client's certificate only after the handshake. Any other TLS failure at this point is a
        // lost connection: the server speaks TLS, and showed who it is.
        if case .untrusted(let diagnosis) = end, diagnosis.isOfClientCertificate {
            return fail(diagnosis.failure(endpoint: endpoint))
        }
        let text = "\(endpoint) hung up before it answered the WebSocket upgrade\(end.explanation)"
        fail(TransportError(.connectionLost, text))
    }
}
#endif
