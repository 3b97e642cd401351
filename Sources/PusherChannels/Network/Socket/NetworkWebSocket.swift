#if os(Linux)

/// A WebSocket over libwebsockets' event loop, which ``DefaultTransport`` makes on Linux.
///
/// The sockets of a ``NetworkLoop`` share its thread, on which the delegate is called; a delegate that blocks holds up all of
/// them. It may call the socket from within its methods, and release it. A socket that is released closes its connection.
public final class NetworkWebSocket: WebSocket {
    private struct State {
        weak var delegate: (any WebSocketDelegate)?
        /// The connection of the latest attempt.
        var current: LoopKey?
    }

    private let loop: NetworkLoop
    private let resolve: AddressResolver.Resolve
    private let onStage: (@Sendable (ConnectStage) -> Void)?
    /// Commands are posted under this lock, which keeps them in the order of the calls.
    private let state = Locked(State())

    /// Creates a socket; it does nothing before ``open(_:attempt:)``.
    public convenience init(loop: NetworkLoop = .shared) {
        self.init(loop: loop, resolve: { AddressResolver.shared.resolve($0, completion: $1) })
    }

    /// Creates a socket that calls a closure, on the thread of its loop, at the end of each stage of an attempt.
    package convenience init(onStage: @escaping @Sendable (ConnectStage) -> Void) {
        self.init(resolve: { AddressResolver.shared.resolve($0, completion: $1) }, onStage: onStage)
    }

    init(
        loop: NetworkLoop = .shared, resolve: @escaping AddressResolver.Resolve,
        onStage: (@Sendable (ConnectStage) -> Void)? = nil
    ) {
        self.loop = loop
        self.resolve = resolve
        self.onStage = onStage
    }

    deinit {
        command { $0.abandon() }
    }

    /// The object that receives this socket's events; held weakly.
    public var delegate: (any WebSocketDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            state.withLock { $0.delegate = newValue }
            command { [weak newValue] in $0.setDelegate(newValue) }
        }
    }

    /// Starts connecting, trying the host's addresses in turn. An earlier attempt that is still open is closed with 1000.
    public func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        // Kept until the lock is released, because dropping the last reference may end a user's object.
        let delegate = delegate
        let isFirst = state.withLock { state in
            let key = loop.makeKey()
            let previous = state.current
            state.current = key
            return loop.enqueue { [resolve, onStage, weak delegate] loop in
                let connections = loop.service(WebSocketConnections.self)
                if let previous { connections[previous]?.abandon() }
                let connection = WebSocketConnection(
                    request, attempt: attempt, key: key, delegate: delegate, resolve: resolve, loop: loop)
                connection.onStage = onStage
                connections.open(connection, key: key)
            }
        }
        // Without the lock: if there can't be a loop, the delegate is notified now.
        if isFirst { loop.launch() }
    }

    /// Sends one text message, which is dropped if the socket isn't open. The connection is lost if more than 16 MiB wait to be
    /// sent.
    public func send(_ text: String) {
        command { $0.send(text) }
    }

    /// Sends one text message of which only the last matters. While more than 64 KiB wait to be sent, it replaces the one before.
    public func sendUnlessBusy(_ text: String) {
        command { $0.sendUnlessBusy(text) }
    }

    /// Closes with a code and a reason, after everything that was sent before. Waits two seconds for the peer's close frame.
    ///
    /// A reason of more than 123 bytes of UTF-8 is truncated, because RFC 6455 leaves no room for more.
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
