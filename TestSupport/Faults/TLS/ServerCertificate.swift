/// A server's certificate with its private key, issued by a ``CertificateAuthority``.
///
/// Neither its description nor its mirror shows the key.
public struct ServerCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    /// What made it; for a self-signed certificate that is not who vouches for it.
    public let authority: CertificateAuthority
    /// The certificate for those who want to look at it.
    public let certificatePEM: String
    let key: PrivateKey
    private let subject: String

    init(authority: CertificateAuthority, subject: String, certificatePEM: String, key: PrivateKey) {
        self.authority = authority
        self.subject = subject
        self.certificatePEM = certificatePEM
        self.key = key
    }

    /// Whom it is for.
    public var description: String { "certificate of \(subject)" }

    /// The certificate only.
    public var customMirror: Mirror { Mirror(self, children: ["certificatePEM": certificatePEM]) }
}

/// A private key's bytes, which nothing prints.
struct PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
    let der: [UInt8]
    var description: String { "private key" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// How a server comes by its certificate.
public enum ServerTLS: Sendable {
    /// One for `localhost`, `127.0.0.1` and `::1`, issued by an authority that is made for this server alone.
    case throwaway
    /// This one.
    case certificate(ServerCertificate)

    func certificate() throws(TLSTrouble) -> ServerCertificate {
        switch self {
        case .throwaway: try CertificateAuthority().issue()
        case .certificate(let certificate): certificate
        }
    }
}
