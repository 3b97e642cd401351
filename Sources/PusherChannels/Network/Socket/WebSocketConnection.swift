#if os(Linux)

/// One attempt of a socket, from its `open` to its one report of the end. Lives on the loop's thread.
///
/// The one owner of what it takes in turn: a place in the queue, a connector, a stream.
final class WebSocketConnection: ByteStreamOwner {
    private enum Phase {
        case waiting
        case connecting(Connector)
        case upgrading(ByteStream, UpgradeExchange)
        /// Also when the end is reported: the closing handshake may go on.
        case open(ByteStream)
        case ended
    }

    /// Larger messages take longer to read than the 50 ms that others may have to wait, however they are made.
    static let largeSize = 1 << 20

    private let loop: EventLoop
    private let key: ConnectionKey
    private let attempt: ConnectionAttempt
    private let resolve: AddressResolver.Resolve
    private let timer: LoopTimer
    private var request: WebSocketRequest
    private weak var delegate: (any WebSocketDelegate)?
    private var phase = Phase.waiting
    private var conversation: WebSocketConversation
    /// Where it queues for its turn, or holds one of the places.
    private var queue: String?
    private var isReading = true
    /// Whether large messages are being reported by another thread: until it is done nothing else is.
    private var isHandingOver = false
    /// What came and may not be read yet: with the upgrade's response, or while messages are handed over.
    private var early: [UInt8] = []
    /// The end, which came while messages are handed over.
    private var streamEnd: StreamEnd?
    /// The time by which everything was read that had come before what was read last.
    private var origin = MessageBatch.Origin.told(age: .zero)

    init(
        _ request: WebSocketRequest, attempt: ConnectionAttempt, key: ConnectionKey, delegate: (any WebSocketDelegate)?,
        resolve: @escaping AddressResolver.Resolve, loop: EventLoop
    ) {
        self.request = request
        self.attempt = attempt
        self.key = key
        self.delegate = delegate
        self.resolve = resolve
        self.loop = loop
        timer = loop.timers.makeTimer()
        let (timeouts, random) = (loop.environment.timeouts, loop.environment.random)
        conversation = WebSocketConversation(
            maximumSize: request.maximumMessageSize, closeTimeout: timeouts.closing,
            makeKey: { UInt32(truncatingIfNeeded: random()) })
    }

    private var registry: WebSocketConnections { loop.service() }

    // MARK: Opening

    func open() {
        if let failure = loop.failure { return fail(failure) }
        let (upgrade, route): (UpgradeRequest, Route)
        do throws(WebSocketFailure) {
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

    private func readResponse(_ bytes: UnsafeRawBufferPointer, on stream: ByteStream, _ exchange: inout UpgradeExchange) {
        var cursor = ByteCursor(bytes)
        do throws(WebSocketFailure) {
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
        delegate?.webSocketDidOpen(attempt: attempt)
        receive(early: bytes)
    }

    // MARK: Commands

    func send(_ text: String) {
        guard case .open = phase else { return }
        conversation.send(text)
        loop.later { self.flush() }
    }

    func sendUnlessBusy(_ text: String) {
        guard case .open = phase else { return }
        conversation.sendUnlessBusy(text)
        loop.later { self.flush() }
    }

    func setDelegate(_ delegate: (any WebSocketDelegate)?) {
        self.delegate = delegate
    }

    func setReading(_ reading: Bool) {
        isReading = reading
        readIfAllowed()
    }

    func close(code: UInt16, reason: String) {
        guard case .open = phase else { return cancel("Closed before it was open") }
        conversation.close(code: code, reason: reason)
        // The peer's close frame may stand behind what nobody wanted to read.
        setReading(true)
        flush()
    }

    /// Closes for an owner that doesn't wait: reports at once, and leaves the closing handshake to itself.
    func abandon() {
        guard case .open = phase else { return cancel("Closed before it was open") }
        conversation.abandon()
        setReading(true)
        flush()
    }

    /// Ends at once, because the loop does.
    func stop() {
        let message = "The loop was shut down"
        guard case .open = phase else { return cancel(message) }
        conversation.cut(WebSocketFailure(.cancelled, message))
        if isHandingOver, let closure = conversation.takeClosure() {
            // Nobody will be there to say that the messages are read.
            loop.environment.performElsewhere { [weak delegate, attempt] in delegate?.webSocketDidClose(closure, attempt: attempt)
            }
            registry.forget(key)
        }
        flush()
    }

    // MARK: The stream

    func streamWritable() {
        switch phase {
        case .upgrading(let stream, var exchange):
            exchange.write { stream.write($0) }
            phase = .upgrading(stream, exchange)
        case .open: flush()
        case .waiting, .connecting, .ended: break
        }
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer, since time: Instant) {
        if case .upgrading(let stream, var exchange) = phase { return readResponse(bytes, on: stream, &exchange) }
        if isHandingOver { return early.append(contentsOf: bytes) }
        if !early.isEmpty { receiveEarly() }
        origin = .since(time, now: loop.environment.now)
        conversation.receive(bytes)
        flush()
    }

    func streamEnded(_ end: StreamEnd) {
        guard case .open = phase else { return upgradeEnded(end) }
        if isHandingOver {
            streamEnd = end
            return
        }
        // A close frame among it may tell why.
        if !early.isEmpty { receiveEarly() }
        conversation.streamEnded(because: end.explanation)
        flush()
    }

    private func upgradeEnded(_ end: StreamEnd) {
        let endpoint = endpointName(host: request.host, port: request.port)
        // With TLS 1.3 a server refuses a client's certificate only after the handshake.
        if case .untrusted(let diagnosis) = end { return fail(diagnosis.failure(endpoint: endpoint)) }
        let text = "\(endpoint) hung up before it answered the WebSocket upgrade\(end.explanation)"
        fail(WebSocketFailure(.connectionLost, text))
    }

    // MARK: Reading

    /// Reads what came before there was a connection to read it.
    func receive(early bytes: [UInt8]) {
        early = bytes
        readIfAllowed()
    }

    private func readIfAllowed() {
        guard case .open(let stream) = phase else { return }
        let reads = isReading && !isHandingOver
        stream.setReading(reads)
        if reads, !early.isEmpty { receiveEarly() }
    }

    private func receiveEarly() {
        let bytes = early
        early = []
        bytes.withUnsafeBytes { conversation.receive($0) }
        flush()
    }

    /// Has messages reported by another thread, as reading them takes long; reports of other connections don't wait for that.
    private func handOver(_ messages: borrowing MessageBatch, from stream: ByteStream) {
        isHandingOver = true
        stream.setReading(false)
        let (copies, origin) = (messages.copies, messages.origin)
        loop.environment.performElsewhere { [weak delegate, attempt, key, owner = loop.owner] in
            MessageBatch.with(copies, origin) { delegate?.webSocketDidReceive($0, attempt: attempt) }
            owner.post { $0.service(WebSocketConnections.self)[key]?.handedOver() }
        }
    }

    /// The other thread is done with the messages.
    func handedOver() {
        isHandingOver = false
        flush()
        readIfAllowed()
        guard let end = streamEnd, !isHandingOver else { return }
        streamEnd = nil
        streamEnded(end)
    }

    // MARK: The conversation

    /// Does what the conversation has come to.
    func flush() {
        guard case .open(let stream) = phase else { return }
        conversation.write { stream.write($0) }
        if !isHandingOver { report(from: stream) }
        if let time = conversation.takeTimer() {
            timer.set(after: time) { [weak self] in self?.timedOut() }
        }
        if conversation.stream == .closeNow {
            timer.cancel()
            stream.leave()
        }
    }

    private func report(from stream: ByteStream) {
        var heard = 0
        conversation.takeMessages(origin) { messages in
            heard = messages.count
            if messages.size > Self.largeSize {
                handOver(messages, from: stream)
            } else {
                delegate?.webSocketDidReceive(messages, attempt: attempt)
            }
        }
        guard !isHandingOver else { return }
        if conversation.takeControlFrames(), heard == 0 {
            delegate?.webSocketDidReceive(.controlFrames(origin), attempt: attempt)
        }
        if let closure = conversation.takeClosure() {
            registry.forget(key)
            delegate?.webSocketDidClose(closure, attempt: attempt)
        }
    }

    private func timedOut() {
        conversation.timerFired()
        flush()
        // The peer had its time already.
        if case .open(let stream) = phase, conversation.stream == .closeNow { stream.cut() }
    }

    // MARK: Ending before it is open

    private func cancel(_ message: String) {
        fail(WebSocketFailure(.cancelled, message))
    }

    private func fail(_ failure: WebSocketFailure) {
        if case .ended = phase { return }
        leave()
        phase = .ended
        registry.forget(key)
        delegate?.webSocketDidClose(.failed(failure), attempt: attempt)
    }

    /// Lets go of what was to become an open connection.
    private func leave() {
        timer.cancel()
        switch phase {
        case .connecting(let connector): connector.cancel()
        case .upgrading(let stream, _): stream.cut()
        case .waiting, .open, .ended: break
        }
        phase = .waiting
        leaveQueue()
    }

    private func leaveQueue() {
        guard let queue else { return }
        self.queue = nil
        registry.leave(key, to: queue)
    }
}
#endif
