import PusherChannels

/// A socket whose ``TrafficRecorder`` records the messages that it passes on.
///
/// All members may be called from any thread. Delegate calls come as the underlying socket makes them, on the same thread, with
/// one close for each open.
public final class RecordingWebSocket: WebSocket {
    let base: any WebSocket
    private let forwarder: Forwarder

    init(_ base: any WebSocket, recorder: TrafficRecorder) {
        self.base = base
        forwarder = Forwarder(recorder: recorder)
        base.delegate = forwarder
    }

    /// The socket's delegate, held weakly.
    public var delegate: (any WebSocketDelegate)? {
        get { forwarder.delegate }
        set { forwarder.delegate = newValue }
    }

    /// Starts connecting.
    public func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        forwarder.willOpen(request, attempt)
        base.open(request, attempt: attempt)
    }

    /// Sends one text message. A message that is dropped because the socket isn't open isn't recorded.
    public func send(_ text: String) {
        forwarder.willSend(text)
        base.send(text)
    }

    /// Sends a message that answers the peer and of which only the latest matters, and records it, even if a later one replaces it
    /// while the peer doesn't read.
    public func sendUnlessBusy(_ text: String) {
        forwarder.willSend(text)
        base.sendUnlessBusy(text)
    }

    /// Closes the socket.
    public func close(code: UInt16, reason: String) {
        forwarder.willClose()
        base.close(code: code, reason: reason)
    }

    /// Stops or resumes reading.
    public func setReading(_ reading: Bool) {
        base.setReading(reading)
    }
}

/// The delegate of the recorded socket, which records calls and then passes them on. It is a separate object, because sockets
/// hold delegates weakly and users of a recording socket should not see it.
private final class Forwarder: WebSocketDelegate {
    private struct State {
        weak var delegate: (any WebSocketDelegate)?
        var connections: [ConnectionAttempt: TrafficLog.Connection] = [:]
        /// The attempt on which messages can be sent.
        var open: ConnectionAttempt?

        var connection: TrafficLog.Connection? { open.flatMap { connections[$0] } }
    }

    private let recorder: TrafficRecorder
    private let state = Locked(State())

    init(recorder: TrafficRecorder) {
        self.recorder = recorder
    }

    var delegate: (any WebSocketDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    // MARK: The client's side

    func willOpen(_ request: WebSocketRequest, _ attempt: ConnectionAttempt) {
        let connection = recorder.open(request)
        state.withLock { state in
            state.open = nil
            state.connections[attempt] = connection
        }
    }

    func willSend(_ text: String) {
        guard let connection = state.withLock({ $0.connection }) else { return }
        recorder.record(text, isSent: true, on: connection)
    }

    func willClose() {
        state.withLock { $0.open = nil }
    }

    // MARK: The socket's side

    func webSocketDidOpen(attempt: ConnectionAttempt) {
        let delegate = state.withLock { state in
            state.open = attempt
            return state.delegate
        }
        delegate?.webSocketDidOpen(attempt: attempt)
    }

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        let (delegate, connection) = state.withLock { ($0.delegate, $0.connections[attempt]) }
        if let connection {
            messages.forEach { kind, bytes in
                let text = kind == .text ? String(decoding: bytes, as: UTF8.self) : "<\(bytes.count) bytes>"
                recorder.record(text, isSent: false, on: connection)
            }
        }
        delegate?.webSocketDidReceive(messages, attempt: attempt)
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        let delegate = state.withLock { state in
            state.connections[attempt] = nil
            if state.open == attempt { state.open = nil }
            return state.delegate
        }
        delegate?.webSocketDidClose(closure, attempt: attempt)
    }
}
