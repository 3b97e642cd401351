#if os(Linux)

/// One attempt of a socket, from its `open` to its one report of the end. Lives on the loop's thread.
///
/// The one owner of what it takes in turn: a place in the queue, a connector, a stream.
final class WebSocketConnection {
    enum Phase {
        case waiting
        case connecting(Connector)
        case upgrading(ByteStream, UpgradeExchange)
        /// Also when the end is reported: the closing handshake may go on.
        case open(ByteStream)
        case ended
    }

    /// Larger messages take longer to read than the 50 ms that others may have to wait, however they are made.
    static let largeSize = 1 << 20

    let loop: EventLoop
    let key: ConnectionKey
    let attempt: ConnectionAttempt
    let resolve: AddressResolver.Resolve
    let timer: LoopTimer
    var request: WebSocketRequest
    weak var delegate: (any WebSocketDelegate)?
    var phase = Phase.waiting
    var conversation: WebSocketConversation
    /// The endpoint at which it queues for its turn, or holds one of the places.
    var queue: String?
    var isReading = true
    /// Large messages that another thread reports: empty once it has begun with them; nil when it is done.
    var unread: Locked<[(MessageBatch.Kind, [UInt8])]?>?
    /// Bytes that came and may not be read yet: with the upgrade's response, or while messages are handed over.
    var early: [UInt8] = []
    /// The end, which came while messages are handed over.
    var streamEnd: StreamEnd?
    /// The time by which everything was read that had come before what was read last.
    var origin = MessageBatch.Origin.told(age: .zero)

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

    var registry: WebSocketConnections { loop.service() }

    /// True while another thread reports large messages: until it is done nothing else is reported.
    var isHandingOver: Bool { unread != nil }

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
        dropUnread()
        conversation.abandon()
        setReading(true)
        flush()
    }

    /// Ends at once, because the loop does.
    func shutDown() {
        let message = "The loop was shut down"
        guard case .open = phase else { return cancel(message) }
        conversation.cut(WebSocketFailure(.cancelled, message))
        dropUnread()
        if isHandingOver, let closure = conversation.takeClosure() {
            // Nobody will be there to say that the messages are read.
            loop.environment.performElsewhere { [weak delegate, attempt] in delegate?.webSocketDidClose(closure, attempt: attempt)
            }
            registry.forget(key)
        }
        flush()
    }

    /// Nobody wants them any more: where the other thread is held up they would be kept, of each attempt.
    private func dropUnread() {
        unread?.withLock { $0 = nil }
    }

    // MARK: Ending before it is open

    private func cancel(_ message: String) {
        fail(WebSocketFailure(.cancelled, message))
    }

    func fail(_ failure: WebSocketFailure) {
        if case .ended = phase { return }
        leave()
        phase = .ended
        registry.forget(key)
        delegate?.webSocketDidClose(.failed(failure), attempt: attempt)
    }

    /// Lets go of what was to become an open connection.
    func leave() {
        timer.cancel()
        switch phase {
        case .connecting(let connector): connector.cancel()
        case .upgrading(let stream, _): stream.cut()
        case .waiting, .open, .ended: break
        }
        phase = .waiting
        leaveQueue()
    }

    func leaveQueue() {
        guard let queue else { return }
        self.queue = nil
        registry.leave(key, to: queue)
    }
}
#endif
