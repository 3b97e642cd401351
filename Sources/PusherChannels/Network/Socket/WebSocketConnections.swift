#if os(Linux)

/// The WebSocket connections of a loop: those that accept commands, and those that wait for their turn to open.
final class WebSocketConnections: LoopService {
    private let loop: EventLoop
    /// The connections that haven't reported their end.
    private var connections: [LoopKey: WebSocketConnection] = [:]
    private var limiter = ConnectLimiter()

    init(loop: EventLoop) {
        self.loop = loop
    }

    subscript(key: LoopKey) -> WebSocketConnection? { connections[key] }

    /// Opens a connection, and keeps it until ``forget(_:)``.
    func open(_ connection: WebSocketConnection, key: LoopKey) {
        connections[key] = connection
        connection.open()
    }

    /// Forgets a connection that has reported its end; its stream may live on for the closing handshake.
    func forget(_ key: LoopKey) {
        connections[key] = nil
    }

    func shutDown() {
        for connection in connections.values { connection.shutDown() }
    }

    // MARK: Turns to open

    /// Calls `begin` when it is a connection's turn to open, but not before this call has returned.
    func enter(_ key: LoopKey, to endpoint: String, begin: @escaping () -> Void) {
        limiter.enter(key, to: endpoint, begin: begin)
        takeTurns()
    }

    /// Notes that a connection is open, has failed, or no longer wants to wait.
    func leave(_ key: LoopKey, to endpoint: String) {
        limiter.leave(key, to: endpoint)
        takeTurns()
    }

    private func takeTurns() {
        for begin in limiter.takeTurns() { loop.later(begin) }
    }
}
#endif
