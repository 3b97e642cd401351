#if canImport(CLibwebsockets)

/// One attempt, from its `open` to its one report of the end. Lives on the loop's thread.
final class WebSocketConnection {
    private enum Phase {
        case waiting
        case opening(WebSocketHandshake)
        case open(OpenConnection)
        case ended
    }

    private let service: EventLoop
    private let key: ConnectionKey
    private let report: ConnectionReport
    private var phase = Phase.waiting
    private var isReading = true
    /// Where it queues for its turn, or holds one of the places.
    private var endpoint: String?

    init(service: EventLoop, key: ConnectionKey, report: ConnectionReport) {
        self.service = service
        self.key = key
        self.report = report
    }

    // MARK: Opening

    func open(_ request: WebSocketRequest, resolve: @escaping AddressResolver.Resolve) {
        if let failure = service.failure { return end(.failed(failure)) }
        let opening: WebSocketHandshake
        do throws(WebSocketFailure) {
            opening = try WebSocketHandshake(request, service: service)
        } catch {
            return end(.failed(error))
        }
        let endpoint = opening.route.name
        self.endpoint = endpoint
        service.openings.enter(key, to: endpoint) { [weak self] in
            guard let self, case .waiting = phase else { return }
            phase = .opening(opening)
            opening.start(resolve: resolve) { [weak self] in self?.opened($0, request, resolve: resolve) }
        }
    }

    private func opened(
        _ result: WebSocketHandshake.Result, _ request: WebSocketRequest, resolve: @escaping AddressResolver.Resolve
    ) {
        leaveQueue()
        switch result {
        case .open(let stream, let early):
            let connection = OpenConnection(
                stream: stream, maximumSize: request.maximumMessageSize, report: report,
                timer: service.timers.makeTimer(), ended: { [weak self] in self?.ended() },
                handOver: { [loop = service.loop, key] work in
                    LargeMessages.perform {
                        work()
                        loop.post { $0.connection(key)?.handedOver() }
                    }
                })
            phase = .open(connection)
            report.opened()
            if !isReading { connection.setReading(false) }
            connection.receive(early: early)
        case .redirected(let request):
            phase = .waiting
            open(request, resolve: resolve)
        case .failed(let failure):
            end(.failed(failure))
        }
    }

    private func leaveQueue() {
        guard let endpoint else { return }
        self.endpoint = nil
        service.openings.leave(key, to: endpoint)
    }

    // MARK: Commands

    func send(_ text: String) {
        guard case .open(let connection) = phase else { return }
        connection.send(text)
        service.flushLater(self)
    }

    func sendUnlessBusy(_ text: String) {
        guard case .open(let connection) = phase else { return }
        connection.sendUnlessBusy(text)
        service.flushLater(self)
    }

    func delegateChanged() {
        report.delegateChanged()
    }

    /// Large messages were read elsewhere.
    func handedOver() {
        if case .open(let connection) = phase { connection.handedOver() }
    }

    /// Has what was sent since go out together.
    func flush() {
        if case .open(let connection) = phase { connection.flush() }
    }

    func setReading(_ reading: Bool) {
        isReading = reading
        if case .open(let connection) = phase { connection.setReading(reading) }
    }

    func close(code: UInt16, reason: String) {
        switch phase {
        case .waiting, .opening: cancel("Closed before it was open")
        case .open(let connection): connection.close(code: code, reason: reason)
        case .ended: break
        }
    }

    /// Closes for an owner that doesn't wait: reports at once, and leaves the closing handshake to itself.
    func abandon() {
        switch phase {
        case .waiting, .opening: cancel("Closed before it was open")
        case .open(let connection): connection.abandon()
        case .ended: break
        }
    }

    /// Ends at once, because the loop does.
    func stop() {
        switch phase {
        case .waiting, .opening: cancel("The loop was shut down")
        case .open(let connection): connection.stop(WebSocketFailure(.cancelled, "The loop was shut down"))
        case .ended: break
        }
    }

    // MARK: Ending

    private func cancel(_ message: String) {
        if case .opening(let opening) = phase { opening.cancel() }
        end(.failed(WebSocketFailure(.cancelled, message)))
    }

    private func end(_ closure: WebSocketClosure) {
        ended()
        leaveQueue()
        report.closed(closure)
    }

    private func ended() {
        phase = .ended
        service.forget(key)
    }
}
#endif
