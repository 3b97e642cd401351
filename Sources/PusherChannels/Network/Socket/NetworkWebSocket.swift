#if os(Linux)

/// A WebSocket over libwebsockets' event loop: what ``DefaultTransport`` makes on Linux.
///
/// The sockets of a ``NetworkLoop`` share its thread, on which the delegate is called; a delegate that blocks holds up all
/// of them. It may call the socket from within its calls, and let the socket go. A socket that is let go closes its connection.
public final class NetworkWebSocket: WebSocket {
    private struct State {
        weak var delegate: (any WebSocketDelegate)?
        /// The connection of the latest attempt.
        var current: ConnectionKey?
    }

    private let loop: NetworkLoop
    private let resolve: AddressResolver.Resolve
    /// Commands are posted under this lock: that keeps them in the order of the calls.
    private let state = Locked(State())

    /// Creates a socket; it does nothing before ``open(_:attempt:)``.
    public convenience init(loop: NetworkLoop = .shared) {
        self.init(loop: loop, resolve: { AddressResolver.shared.resolve($0, completion: $1) })
    }

    init(loop: NetworkLoop = .shared, resolve: @escaping AddressResolver.Resolve) {
        self.loop = loop
        self.resolve = resolve
    }

    deinit {
        command { $0.abandon() }
    }

    /// The object that hears of this socket; held weakly.
    public var delegate: (any WebSocketDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            state.withLock { $0.delegate = newValue }
            command { [weak newValue] in $0.setDelegate(newValue) }
        }
    }

    /// Starts connecting; tries the addresses of the host in turn. An earlier attempt that is still open is closed with 1000.
    public func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        // Kept until the lock is open: with the last reference to it a user's object may end.
        let delegate = delegate
        let isFirst = state.withLock { state in
            let key = loop.makeKey()
            let previous = state.current
            state.current = key
            return loop.enqueue { [resolve, weak delegate] loop in
                let connections = loop.service(WebSocketConnections.self)
                if let previous { connections[previous]?.abandon() }
                let connection = WebSocketConnection(
                    request, attempt: attempt, key: key, delegate: delegate, resolve: resolve, loop: loop)
                connections.open(connection, key: key)
            }
        }
        // With nothing locked: where there can't be a loop, the delegate hears of it now.
        if isFirst { loop.launch() }
    }

    /// Sends one text message; dropped when the socket is not open. The connection is lost when more than 16 MiB wait to be sent.
    public func send(_ text: String) {
        command { $0.send(text) }
    }

    /// Sends one text message of which only the last matters; while 64 KiB wait to be sent, it takes the place of the one before.
    public func sendUnlessBusy(_ text: String) {
        command { $0.sendUnlessBusy(text) }
    }

    /// Closes with a code and a reason, after all that was sent before; waits for the peer's close frame for two seconds.
    ///
    /// A reason of more than 123 bytes of UTF-8 is cut, as RFC 6455 leaves no room for it.
    public func close(code: UInt16, reason: String) {
        command { $0.close(code: code, reason: reason) }
    }

    /// Stops or resumes reading; every attempt begins with reading.
    public func setReading(_ reading: Bool) {
        command { $0.setReading(reading) }
    }

    private func command(_ body: @escaping @Sendable (WebSocketConnection) -> Void) {
        state.withLock { state in
            guard let key = state.current else { return }
            loop.post { loop in
                if let connection = loop.service(WebSocketConnections.self)[key] { body(connection) }
            }
        }
    }
}
#endif
