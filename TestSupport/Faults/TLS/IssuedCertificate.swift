import Foundation

/// A server's or a client's certificate with its private key, issued by a ``CertificateAuthority``.
///
/// Neither its description nor its mirror shows the key. All members may be called from any thread.
public struct IssuedCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    /// The authority that made the certificate. It doesn't vouch for a self-signed one.
    public let authority: CertificateAuthority
    /// The certificate by itself.
    public let certificatePEM: String
    /// The pin of the certificate's key: SHA-256 of the key as it stands in the certificate (`SubjectPublicKeyInfo`, DER), in
    /// base64. It follows `sha256//` in curl's `--pinnedpubkey`, and is what RFC 7469 calls a pin.
    public let publicKeyPin: String
    /// The certificates of the intermediate authorities between this certificate and the root, the nearest first.
    let intermediates: [String]
    let key: PrivateKey
    private let subject: String

    init(authority: CertificateAuthority, subject: String, made: CertificateMaker.Made, intermediates: [String]) {
        self.authority = authority
        self.subject = subject
        self.intermediates = intermediates
        (certificatePEM, publicKeyPin, key) = (made.pem, made.publicKeyPin, made.key)
    }

    /// The certificate and those of the intermediate authorities above it, which its owner presents.
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

    /// Returns a file with ``chainPEM``. It is deleted when the authority is deallocated.
    ///
    /// - Throws: Foundation's error if the file can't be written. The functions below throw it, too.
    public func chainFile() throws -> URL {
        try authority.files.file("certificate", with: chainPEM)
    }

    /// Returns a file with ``privateKeyPEM``, which only its owner may read (mode 0600). It is deleted when the authority is
    /// deallocated.
    public func privateKeyFile() throws -> URL {
        try authority.files.file("key", with: privateKeyPEM, mode: 0o600)
    }

    /// Returns a file with ``encryptedPrivateKeyPEM(password:)``, which only its owner may read (mode 0600), a new one each time.
    /// It is deleted when the authority is deallocated.
    public func encryptedPrivateKeyFile(password: String) throws -> URL {
        try authority.files.file("key", with: encryptedPrivateKeyPEM(password: password), mode: 0o600)
    }

    // MARK: Printing

    /// The host or client that the certificate is for.
    public var description: String { "certificate of \(subject)" }

    /// A mirror that shows the certificate only.
    public var customMirror: Mirror { Mirror(self, children: ["certificatePEM": certificatePEM]) }
}
