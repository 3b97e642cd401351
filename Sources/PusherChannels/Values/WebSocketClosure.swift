/// The end of a socket: the one report that follows every `open`.
public enum WebSocketClosure: Equatable, Sendable {
    /// The WebSocket was closed with a code and a reason: the peer's close frame, or ours.
    ///
    /// 1005 stands for a close frame without a code (RFC 6455, 7.1.5).
    case closed(code: UInt16, reason: String)

    /// The socket never opened, or ended without a close frame (what RFC 6455 calls 1006).
    case failed(WebSocketFailure)
}

/// The reason why a socket could not be opened or ended without a close frame.
public struct WebSocketFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sort of failure, for code that decides by it.
    public enum Kind: Equatable, Sendable {
        /// The host name has no address.
        case hostNotFound
        /// The host, or the proxy before it, answered that nothing listens on the port.
        case connectionRefused
        /// There is no way to the host, or this process can't open one more socket.
        case unreachable
        /// No answer within the deadline.
        case timedOut
        /// TLS could not be agreed on, or the peer's certificate is not trusted.
        case tlsFailed(TLSError)
        /// The proxy answered with this HTTP status instead of making a tunnel; 407 asks for credentials.
        case proxyRefused(status: Int)
        /// The server answered the upgrade with this HTTP status instead of 101.
        case upgradeRefused(status: Int)
        /// The peer broke the WebSocket protocol.
        case protocolViolation
        /// An established connection ended without a close frame.
        case connectionLost
        /// The socket was closed by its owner before it was open.
        case cancelled
        /// This platform or configuration can't do what was asked. The client gives up.
        case unsupported
    }

    /// The sort of failure.
    public let kind: Kind

    /// The description of what happened, for a person: one line of at most 1,000 characters, with control characters escaped
    /// and no passwords and queries of addresses.
    public let message: String

    /// Creates a failure; custom sockets and test doubles report with it.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message.asMessage
    }

    /// The message.
    public var description: String { message }
}

/// The reason why TLS could not be agreed on: for code that decides by it. The message of the failure tells a person.
public enum TLSError: Equatable, Sendable {
    /// The server's certificate, or that of an authority above it, is no longer valid.
    case certificateExpired
    /// The server's certificate is not valid yet; perhaps a clock is wrong.
    case certificateNotYetValid
    /// The server's certificate is for other hosts.
    case wrongHost
    /// The server's certificate comes from an authority that is not trusted, or the server didn't send all that leads to one.
    case untrustedAuthority
    /// The server's certificate is signed by itself, and is not trusted.
    case selfSigned
    /// The server's certificate doesn't hold one of the pinned public keys.
    case publicKeyNotPinned
    /// The server's certificate is refused for another reason, which the message tells.
    case certificateRejected
    /// The server wants a certificate of the client; none is configured.
    case clientCertificateRequired
    /// The server refused the client's certificate.
    case clientCertificateRefused
    /// The server speaks no TLS version that is allowed.
    case unsupportedVersion
    /// The peer doesn't speak TLS.
    case notTLS
    /// The handshake failed for another reason, which the message tells.
    case handshakeFailed
    /// The configuration can't be used: a file that can't be read, a key that doesn't fit its certificate.
    case invalidConfiguration
}
