/// An error that is thrown when TLS can't be set up.
public enum TLSFixtureError: Error, Equatable, Sendable, CustomStringConvertible {
    /// This platform's build of TestSupport has no TLS server, which needs OpenSSL and exists on Linux only.
    case unsupported
    /// A name or an address that can't be in a certificate.
    case badName(String)
    /// OpenSSL failed, for the reason given.
    case failed(String)

    /// A description in one line.
    public var description: String {
        switch self {
        case .unsupported: "TLS servers exist on Linux only, where OpenSSL is"
        case .badName(let name): "\"\(name)\" is no host name or address"
        case .failed(let reason): "OpenSSL: \(reason)"
        }
    }
}
