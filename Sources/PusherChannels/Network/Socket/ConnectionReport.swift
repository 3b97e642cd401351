#if canImport(CLibwebsockets)

/// The weak reference to a socket's delegate, shared by the socket and its connections.
final class DelegateBox: Sendable {
    private struct Reference {
        weak var delegate: (any WebSocketDelegate)?
    }

    private let reference = Locked(Reference())

    var delegate: (any WebSocketDelegate)? {
        get { reference.withLock { $0.delegate } }
        set { reference.withLock { $0.delegate = newValue } }
    }
}

/// Whom a connection reports to, and as which attempt. Lives on the loop's thread, where it costs no lock to look the delegate up.
final class ConnectionReport {
    private let box: DelegateBox
    private weak var delegate: (any WebSocketDelegate)?
    private let attempt: ConnectionAttempt

    init(box: DelegateBox, attempt: ConnectionAttempt) {
        self.box = box
        self.attempt = attempt
        delegate = box.delegate
    }

    /// The socket has another delegate.
    func delegateChanged() {
        delegate = box.delegate
    }

    func opened() {
        delegate?.webSocketDidOpen(attempt: attempt)
    }

    func mayHaveWaited(_ time: Duration) {
        delegate?.webSocketMayHaveWaited(time, attempt: attempt)
    }

    func received(_ messages: borrowing MessageBatch) {
        delegate?.webSocketDidReceive(messages, attempt: attempt)
    }

    /// The same, for another thread.
    var receive: @Sendable (borrowing MessageBatch) -> Void {
        { [weak delegate, attempt] messages in delegate?.webSocketDidReceive(messages, attempt: attempt) }
    }

    func receivedControlFrame() {
        delegate?.webSocketDidReceiveControlFrame(attempt: attempt)
    }

    func closed(_ closure: WebSocketClosure) {
        delegate?.webSocketDidClose(closure, attempt: attempt)
    }

    /// The same, for another thread.
    var close: @Sendable (WebSocketClosure) -> Void {
        { [weak delegate, attempt] closure in delegate?.webSocketDidClose(closure, attempt: attempt) }
    }
}
#endif
