/// The TLS settings of connections: the authorities to trust, and the client's identity.
///
/// The default suits a server with a certificate that browsers accept. On platforms without libwebsockets only the default is
/// supported; anything else fails with ``TransportError/Kind/unsupported``.
public struct TLSConfiguration: Hashable, Sendable {
    /// The authorities that may vouch for a server.
    public enum Roots: Hashable, Sendable {
        /// The authorities that the system trusts; the variables `SSL_CERT_FILE` and `SSL_CERT_DIR` name others. The variables
        /// are read when the first connection is made.
        case system
        /// Only these authorities.
        case only(PEMSource)
        /// The authorities that the system trusts, and these.
        case systemAnd(PEMSource)
    }

    /// The requirements for a server's certificate.
    public enum Verification: Hashable, Sendable {
        /// The certificate must be valid, vouched for by one of the roots, and issued for the host.
        case full
        /// Any certificate is accepted: anyone between the client and the server can read and change everything they send. Pinned
        /// keys are still required.
        case insecureAcceptAnyCertificate
    }

    /// A version of TLS.
    public enum Version: Hashable, Sendable, Comparable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// The client's own certificate, for servers that ask for one.
    public struct Identity: Hashable, Sendable {
        /// The certificate, followed by those that lead to an authority.
        public var certificateChain: PEMSource
        /// The certificate's private key, without a pass phrase.
        public var privateKey: PEMSource

        /// Creates an identity.
        public init(certificateChain: PEMSource, privateKey: PEMSource) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
        }
    }

    /// The authorities to trust.
    public var roots: Roots
    /// The requirements for the server's certificate.
    public var verification: Verification
    /// The client's certificate; nil for none.
    public var identity: Identity?
    /// The oldest version to accept.
    public var minimumVersion: Version
    /// The pinned public keys. If not empty, the server's certificate, or that of an authority above it, must have one of these
    /// keys. Each is the SHA-256 of a key's SubjectPublicKeyInfo in base64, with or without curl's prefix `sha256//`.
    public var pinnedPublicKeys: Set<String>

    /// Creates a configuration. The defaults suit most clients.
    public init(
        roots: Roots = .system,
        verification: Verification = .full,
        identity: Identity? = nil,
        minimumVersion: Version = .tls12,
        pinnedPublicKeys: Set<String> = []
    ) {
        self.roots = roots
        self.verification = verification
        self.identity = identity
        self.minimumVersion = minimumVersion
        self.pinnedPublicKeys = pinnedPublicKeys
    }
}

/// The source of certificates or a private key in PEM form. Neither its description nor its mirror shows the text.
public enum PEMSource: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// A file, which is read again when it has changed. The next connection uses its new content.
    case file(String)
    /// The text itself.
    case text(String)

    /// The file's path, or `PEM text`.
    public var description: String {
        switch self {
        case .file(let path): path
        case .text: "PEM text"
        }
    }

    /// A mirror that shows the file's path at most.
    public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}
