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
