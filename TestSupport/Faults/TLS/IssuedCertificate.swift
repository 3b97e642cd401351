import Foundation

/// A server's or a client's certificate with its private key, issued by a ``CertificateAuthority``.
///
/// Neither its description nor its mirror shows the key. All members may be called from any thread.
public struct IssuedCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    /// The authority that made it; for a self-signed certificate that is not who vouches for it.
    public let authority: CertificateAuthority
    /// The certificate by itself.
    public let certificatePEM: String
    /// The pin of its key: SHA-256 of the key as it stands in the certificate (`SubjectPublicKeyInfo`, DER), in base64. It is
    /// what follows `sha256//` in curl's `--pinnedpubkey`, and what RFC 7469 calls a pin.
    public let publicKeyPin: String
    /// The certificates of the intermediate authorities that stand between it and the root, the nearest first.
    let intermediates: [String]
    let key: PrivateKey
    private let subject: String

    init(authority: CertificateAuthority, subject: String, made: CertificateMaker.Made, intermediates: [String]) {
        self.authority = authority
        self.subject = subject
        self.intermediates = intermediates
        (certificatePEM, publicKeyPin, key) = (made.pem, made.publicKeyPin, made.key)
    }

    /// The certificate and those of the intermediate authorities above it: what its owner shows.
    public var chainPEM: String { certificatePEM + intermediates.joined() }

    /// The private key, PKCS #8.
    public var privateKeyPEM: String { key.pem }

    /// The private key, PKCS #8, encrypted with AES-256.
    ///
    /// - Throws: ``TLSFixtureError/failed(_:)``.
    public func encryptedPrivateKeyPEM(password: String) throws(TLSFixtureError) -> String {
        try key.encryptedPEM(password: password)
    }

    // MARK: Files

    /// A file with ``chainPEM``, which goes when the authority is let go.
    ///
    /// - Throws: Foundation's error if the file can't be written; so do those below.
    public func chainFile() throws -> URL {
        try authority.files.file("certificate", with: chainPEM)
    }

    /// A file with ``privateKeyPEM``, which only its owner may read (mode 0600); it goes when the authority is let go.
    public func privateKeyFile() throws -> URL {
        try authority.files.file("key", with: privateKeyPEM, mode: 0o600)
    }

    /// A file with ``encryptedPrivateKeyPEM(password:)``, which only its owner may read (mode 0600), another one each time; it
    /// goes when the authority is let go.
    public func encryptedPrivateKeyFile(password: String) throws -> URL {
        try authority.files.file("key", with: encryptedPrivateKeyPEM(password: password), mode: 0o600)
    }

    // MARK: Printing

    /// The host or client that it is for.
    public var description: String { "certificate of \(subject)" }

    /// The certificate only.
    public var customMirror: Mirror { Mirror(self, children: ["certificatePEM": certificatePEM]) }
}
