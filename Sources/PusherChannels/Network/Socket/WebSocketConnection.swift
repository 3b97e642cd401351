#if os(Linux)

/// One attempt of a socket, from `open` to the one report of its end. Confined to the loop's thread.
///
/// It owns a place in the queue, a connector and a stream, one after the other.
final class WebSocketConnection {
    enum Phase {
        case waiting
        case connecting(Connector)
        case upgrading(ByteStream, UpgradeExchange)
        /// Lasts beyond the report of the end, because the closing handshake may continue.
        case open(ByteStream)
        case ended
    }

    /// The size above which another thread reports messages. Larger ones take longer to read than the 50 ms that other
    /// connections may have to wait, however they are made.
    static let largeSize = 1 << 20
    /// The number of messages above which another thread reports them: each takes some time, however short it is. No read of real
    /// events has as many.
    static let largeCount = 2048  // not a mutant: only the speed depends on it

    let loop: EventLoop
    let key: LoopKey
    let attempt: ConnectionAttempt
    let resolve: AddressResolver.Resolve
    let timer: LoopTimer
    var request: WebSocketRequest
    weak var delegate: (any WebSocketDelegate)?
    /// Called at the end of each stage of opening.
    var onStage: (@Sendable (ConnectStage) -> Void)?
    var phase = Phase.waiting
    var conversation: WebSocketConversation
    /// The endpoint in whose queue it waits or holds a place.
    var queue: String?
    var isReading = true
    /// The large messages for another thread to report: an inner `nil` means that it has begun, an outer `nil` that it is done.
    var unread: Locked<[(MessageBatch.Kind, [UInt8])]?>?
    /// Bytes that may not be read yet: they came with the upgrade's response, or while messages are handed over.
    var early: [UInt8] = []
    /// The end of the stream, if it came while messages are handed over.
    var streamEnd: StreamEnd?
    /// The time after which the data of the last read arrived: everything that had come by then was read before.
    var origin = MessageBatch.Origin.told(age: .zero)

    init(
        _ request: WebSocketRequest, attempt: ConnectionAttempt, key: LoopKey, delegate: (any WebSocketDelegate)?,
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

    /// Indicates whether another thread reports large messages; nothing else is reported until it is done.
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
        // The peer's close frame may follow data that nobody wanted to read.
        setReading(true)
        flush()
    }

    /// Closes without making the owner wait: reports the end at once, and lets the closing handshake continue on its own.
    func abandon() {
        guard case .open = phase else { return cancel("Closed before it was open") }
        dropUnread()
        conversation.abandon()
        setReading(true)
        flush()
    }

    /// Ends at once, because the loop shuts down.
    func shutDown() {
        let message = "The loop was shut down"
        guard case .open = phase else { return cancel(message) }
        conversation.cut(TransportError(.cancelled, message))
        dropUnread()
        if isHandingOver, let closure = conversation.takeClosure() {
            // The loop will be gone when the messages have been read.
            loop.environment.performElsewhere { [weak delegate, attempt] in delegate?.webSocketDidClose(closure, attempt: attempt)
            }
            registry.forget(key)
        }
        flush()
    }

    /// Drops messages that nobody wants any more: if the other thread is blocked, those of each attempt would be kept.
    private func dropUnread() {
        unread?.withLock { $0 = nil }
    }

    // MARK: Ending before it is open

    private func cancel(_ message: String) {
        fail(TransportError(.cancelled, message))
    }

    func fail(_ failure: TransportError) {
        if case .ended = phase { return }
        leave()
        phase = .ended
        registry.forget(key)
        delegate?.webSocketDidClose(.failed(failure), attempt: attempt)
    }

    /// Releases everything that was to become an open connection.
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
