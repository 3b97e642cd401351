/// The TLS settings of a server: its certificate, its versions, and whether clients must present certificates as well.
///
/// ```swift
/// let authority = try CertificateAuthority()
/// let server = try await LocalServer.start(tls: ServerTLS(clientCertificates: .required(by: authority)))
/// let old = try await LocalServer.start(tls: ServerTLS(versions: .tls11 ... .tls11))
/// ```
public struct ServerTLS: Sendable {
    /// A version of TLS.
    public enum Version: Int32, Sendable, Comparable, CaseIterable {
        /// TLS 1.0, which most clients refuse.
        case tls10 = 0x0301
        /// TLS 1.1, which most clients refuse.
        case tls11 = 0x0302
        /// TLS 1.2.
        case tls12 = 0x0303
        /// TLS 1.3.
        case tls13 = 0x0304

        /// Older versions come first.
        public static func < (one: Version, other: Version) -> Bool { one.rawValue < other.rawValue }
    }

    /// The certificates that a server requires of its clients.
    public enum ClientCertificates: Sendable {
        /// Clients aren't asked for certificates.
        case notAsked
        /// Clients must present a certificate issued by this authority, or by one below it.
        ///
        /// In TLS 1.2, the handshake of a client without one fails. In TLS 1.3, such a client may have finished its side of the
        /// handshake and sent a request before it learns that it was refused.
        case required(by: CertificateAuthority)
    }

    /// The server's certificate. `nil` stands for a certificate for `localhost`, `127.0.0.1` and `::1`, issued by an authority
    /// that is made for this server only.
    public var certificate: IssuedCertificate?
    /// The certificates that clients must present.
    public var clientCertificates: ClientCertificates
    /// The versions that the server speaks. For versions before 1.2 it also accepts the weak algorithms that they need.
    public var versions: ClosedRange<Version>

    /// Creates TLS settings; see the properties.
    public init(
        certificate: IssuedCertificate? = nil, clientCertificates: ClientCertificates = .notAsked,
        versions: ClosedRange<Version> = .tls12 ... .tls13
    ) {
        self.certificate = certificate
        self.clientCertificates = clientCertificates
        self.versions = versions
    }

    /// Settings with a certificate for `localhost`, `127.0.0.1` and `::1`, issued by an authority that is made for this server
    /// only.
    public static let throwaway = ServerTLS()

    /// Returns settings with this certificate.
    public static func certificate(_ certificate: IssuedCertificate) -> ServerTLS {
        ServerTLS(certificate: certificate)
    }
}
