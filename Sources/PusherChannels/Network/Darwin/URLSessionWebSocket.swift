#if !os(Linux)

/// A WebSocket over `URLSessionWebSocketTask`, which ``DefaultTransport`` makes on platforms without libwebsockets.
public final class URLSessionWebSocket: WebSocket {
    private struct State {
        weak var delegate: (any WebSocketDelegate)?
        var connection: URLSessionWebSocketConnection?
    }

    private let state = Locked(State())

    /// Creates a socket; it does nothing before ``open(_:attempt:)``.
    public init() {}

    deinit {
        state.withLock { $0.connection }?.abandon()
    }

    /// The object that receives this socket's events; held weakly.
    public var delegate: (any WebSocketDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    /// Starts connecting. An earlier attempt that is still open is given up.
    public func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        let next = URLSessionWebSocketConnection(attempt: attempt, delegate: { [weak self] in self?.delegate })
        let previous = state.withLock { state in
            defer { state.connection = next }
            return state.connection
        }
        previous?.abandon()
        next.open(request)
    }

    /// Sends one text message, which is dropped if the socket isn't open.
    public func send(_ text: String) {
        state.withLock { $0.connection }?.send(text)
    }

    /// Closes with a code and a reason; a code that `URLSession` doesn't know becomes 1000.
    public func close(code: UInt16, reason: String) {
        state.withLock { $0.connection }?.close(code: code, reason: reason)
    }

    /// Stops or resumes reading. One message that was requested before still comes.
    public func setReading(_ reading: Bool) {
        state.withLock { $0.connection }?.setReading(reading)
    }
}
#endif
