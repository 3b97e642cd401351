/// The reason why the network failed: why a socket could not be opened or ended without a close frame, or a request had no response.
public struct TransportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure, for code that handles kinds differently.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Kind: Equatable, Sendable {
        /// The host name has no address.
        case hostNotFound
        /// The host, or the proxy in front of it, replied that nothing listens on the port.
        case connectionRefused
        /// There is no route to the host, or this process can't open another socket.
        case unreachable
        /// The peer didn't answer within the deadline.
        case noAnswer
        /// TLS could not be agreed on, or the peer's certificate is not trusted.
        case tlsFailed(TLSError)
        /// The proxy responded with this HTTP status instead of opening a tunnel; 407 asks for credentials.
        case proxyRefused(status: Int)
        /// The server responded to the upgrade with this HTTP status instead of 101.
        case upgradeRefused(status: Int)
        /// The peer broke the WebSocket protocol, or HTTP.
        case protocolViolation
        /// An established connection ended without a close frame, or before the whole response.
        case connectionLost
        /// The socket was closed by its owner before it was open, or the request was cancelled.
        case cancelled
        /// This platform or configuration doesn't support the request. The client gives up.
        case unsupported
    }

    /// The kind of failure.
    public let kind: Kind

    /// A description of what happened, for a person: one line, the first 1,000 characters of the text, with control characters
    /// escaped, and without the passwords and queries of addresses.
    public let message: String

    /// Creates a failure, for custom sockets and test doubles to report.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message.asMessage
    }

    /// The message.
    public var description: String { message }
}

/// The reason why TLS could not be agreed on, for code that handles reasons differently. The failure's message is for people.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum TLSError: Equatable, Sendable {
    /// The server's certificate, or that of an authority above it, is no longer valid.
    case certificateExpired
    /// The server's certificate is not valid yet; perhaps a clock is wrong.
    case certificateNotYetValid
    /// The server's certificate is for other hosts.
    case wrongHost
    /// The server's certificate comes from an authority that isn't trusted, or the server didn't send the complete chain to one
    /// that is.
    case untrustedAuthority
    /// The server's certificate is self-signed and isn't trusted.
    case selfSigned
    /// The server's certificate doesn't hold one of the pinned public keys.
    case publicKeyNotPinned
    /// The server's certificate was rejected for another reason, which the message gives.
    case certificateRejected
    /// The server requires a client certificate, but none is configured.
    case clientCertificateRequired
    /// The server refused the client's certificate.
    case clientCertificateRefused
    /// The server supports no TLS version that is allowed.
    case unsupportedVersion
    /// The peer doesn't speak TLS.
    case notTLS
    /// The handshake failed for another reason, which the message gives.
    case handshakeFailed
    /// The configuration can't be used, for example because a file can't be read or a key doesn't match its certificate.
    case invalidConfiguration
}
