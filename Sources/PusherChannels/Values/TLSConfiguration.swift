/// The TLS settings of connections: whom to trust, and who to be.
///
/// The default suits a server with a certificate that browsers accept. On platforms without libwebsockets only the default is
/// supported; anything else fails with ``WebSocketFailure/Kind/unsupported``.
public struct TLSConfiguration: Hashable, Sendable {
    /// The authorities that may vouch for a server.
    public enum Roots: Hashable, Sendable {
        /// Those that the system trusts; `SSL_CERT_FILE` and `SSL_CERT_DIR` name others, as they are when the first connection is made.
        case system
        /// These and no others.
        case only(PEMSource)
        /// Those that the system trusts, and these.
        case systemAnd(PEMSource)
    }

    /// The demands on a server's certificate.
    public enum Verification: Hashable, Sendable {
        /// Valid, vouched for by one of the roots, and for the host that is connected to.
        case full
        /// Any certificate: somebody between client and server can read and change all that they say. Pinned keys are still asked for.
        case insecureAcceptAnyCertificate
    }

    /// The versions of TLS.
    public enum Version: Hashable, Sendable, Comparable {
        /// RFC 5246.
        case tls12
        /// RFC 8446.
        case tls13
    }

    /// The client's own certificate, for servers that ask for one.
    public struct Identity: Hashable, Sendable {
        /// The certificate, and behind it those that lead to an authority.
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
    /// The demands on the server's certificate.
    public var verification: Verification
    /// The client's certificate; nil for none.
    public var identity: Identity?
    /// The oldest version to accept.
    public var minimumVersion: Version
    /// If not empty: public keys of which the server's certificate, or an authority above it, must have one. Each is the SHA-256
    /// of a key's SubjectPublicKeyInfo in base64, with or without the `sha256//` in front that curl writes.
    public var pinnedPublicKeys: Set<String>

    /// Creates a configuration; what is left out is what most clients want.
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
    /// A file, which is read again when it has changed: the next connection uses what it holds then.
    case file(String)
    /// The text itself.
    case text(String)

    /// The file's path, or that it is text.
    public var description: String {
        switch self {
        case .file(let path): path
        case .text: "PEM text"
        }
    }

    /// The file's path at most.
    public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}
