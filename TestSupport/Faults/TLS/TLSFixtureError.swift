/// TLS could not be set up.
public enum TLSFixtureError: Error, Equatable, Sendable, CustomStringConvertible {
    /// This platform's build of TestSupport has no TLS server: it comes with OpenSSL, on Linux only.
    case unsupported
    /// Something that can't stand in a certificate.
    case badName(String)
    /// OpenSSL's reason.
    case failed(String)

    /// One line for a person.
    public var description: String {
        switch self {
        case .unsupported: "TLS servers exist on Linux only, where OpenSSL is"
        case .badName(let name): "\"\(name)\" is no host name or address"
        case .failed(let reason): "OpenSSL: \(reason)"
        }
    }
}
