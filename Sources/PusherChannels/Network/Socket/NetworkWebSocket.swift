#if canImport(CLibwebsockets)

/// A WebSocket over libwebsockets: what ``DefaultTransport`` makes on Linux.
///
/// The sockets of a ``NetworkLoop`` share its thread, on which the delegate is called; a delegate that blocks holds up all
/// of them. It may call the socket from within its calls, and let the socket go. A socket that is let go closes its connection.
public final class NetworkWebSocket: WebSocket {
    /// Held apart from the socket so that a connection can report after the socket is gone, without keeping it alive.
    let delegateBox = DelegateBox()

    private let loop: NetworkLoop
    /// The connection of the latest attempt. Commands are posted under this lock: that keeps them in the order of the calls.
    private let current = Locked<ConnectionKey?>(nil)

    private let resolve: AddressResolver.Resolve

    /// Creates a socket; it does nothing before ``open(_:attempt:)``.
    public convenience init(loop: NetworkLoop = .shared) {
        self.init(loop: loop, resolve: { AddressResolver.shared.resolve($0, completion: $1) })
    }

    init(loop: NetworkLoop = .shared, resolve: @escaping AddressResolver.Resolve) {
        self.loop = loop
        self.resolve = resolve
    }

    deinit {
        guard let key = current.withLock({ $0 }) else { return }
        loop.post { $0.connection(key)?.abandon() }
    }

    /// Who hears of this socket; held weakly.
    public var delegate: (any WebSocketDelegate)? {
        get { delegateBox.delegate }
        set {
            delegateBox.delegate = newValue
            command { $0.delegateChanged() }
        }
    }

    /// Starts connecting; tries the addresses of the host in turn. An earlier attempt that is still open is closed with 1000.
    public func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        let isFirst = current.withLock { current in
            let key = loop.makeKey()
            let previous = current
            current = key
            return loop.enqueue { [resolve, delegateBox] service in
                if let previous { service.connection(previous)?.abandon() }
                let report = ConnectionReport(box: delegateBox, attempt: attempt)
                service.open(request, key: key, report: report, resolve: resolve)
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
        current.withLock { current in
            guard let key = current else { return }
            loop.post { service in
                if let connection = service.connection(key) { body(connection) }
            }
        }
    }
}
#endif
