/// The end of a socket, reported exactly once after every `open`.
public enum WebSocketClosure: Equatable, Sendable {
    /// The WebSocket was closed with a code and a reason: the peer's close frame, or ours.
    ///
    /// 1005 stands for a close frame without a code (RFC 6455, 7.1.5).
    case closed(code: UInt16, reason: String)

    /// The socket never opened, or ended without a close frame (what RFC 6455 calls 1006).
    case failed(TransportError)
}
