#if canImport(CLibwebsockets)
import CLibwebsockets

/// placeholder until the real one lands
public final class LibwebsocketsSocket: WebSocket {
    private let box = Locked<(any WebSocketDelegate)?>(nil)
    public init() {}
    public var delegate: (any WebSocketDelegate)? { get { box.withLock { $0 } } set { box.withLock { $0 = newValue } } }
    public func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {}
    public func send(_ text: String) {}
    public func close(code: UInt16, reason: String) {}
    public func setReading(_ reading: Bool) {}
}
#endif
