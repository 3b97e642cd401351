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

/// Whom a connection reports to, and as which attempt.
struct ConnectionReport: Sendable {
    let box: DelegateBox
    let attempt: ConnectionAttempt

    func opened() {
        box.delegate?.webSocketDidOpen(attempt: attempt)
    }

    func mayHaveWaited(_ time: Duration) {
        box.delegate?.webSocketMayHaveWaited(time, attempt: attempt)
    }

    func received(_ messages: borrowing MessageBatch) {
        box.delegate?.webSocketDidReceive(messages, attempt: attempt)
    }

    func receivedControlFrame() {
        box.delegate?.webSocketDidReceiveControlFrame(attempt: attempt)
    }

    func closed(_ closure: WebSocketClosure) {
        box.delegate?.webSocketDidClose(closure, attempt: attempt)
    }
}
#endif
