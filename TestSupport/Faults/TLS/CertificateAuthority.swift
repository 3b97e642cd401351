import Foundation
import PusherChannels

/// An authority that issues certificates for test servers and their clients. It is made in memory, valid for a day, and trusted
/// only by programs that are told to trust it.
///
/// ```swift
/// let authority = try CertificateAuthority()
/// let server = try await LocalServer.start(tls: .certificate(authority.issue()))
/// let file = try authority.file()  // For clients that take a file: curl --cacert, SSL_CERT_FILE.
/// ```
///
/// All members may be called from any thread.
public final class CertificateAuthority: Sendable {
    /// A deliberate problem with a server's certificate.
    public enum Flaw: Sendable, CaseIterable {
        /// The certificate was valid until yesterday.
        case expired
        /// The certificate is valid from tomorrow on.
        case notYetValid
        /// The certificate is for another host, `wrong.example`.
        case wrongHost
        /// The certificate is signed by itself instead of by the authority.
        case selfSigned
        /// The certificate is issued by an intermediate authority whose own certificate the server doesn't send.
        case incompleteChain
    }

    /// A deliberate problem with a client's certificate.
    public enum ClientFlaw: Sendable, CaseIterable {
        /// The certificate was valid until yesterday.
        case expired
        /// The certificate is valid from tomorrow on.
        case notYetValid
        /// The certificate is signed by itself instead of by the authority.
        case selfSigned
    }

    /// The authority's certificate. The one to trust is that of the ``root``.
    public let certificatePEM: String
    /// The pin of the authority's key: see ``IssuedCertificate/publicKeyPin``.
    public let publicKeyPin: String
    /// The authority above this one; `nil` for a root.
    public let issuer: CertificateAuthority?
    private let key: PrivateKey
    let files = TemporaryFiles()

    /// Creates a new root authority with its own key.
    ///
    /// - Throws: ``TLSFixtureError/unsupported`` if there is no OpenSSL.
    public convenience init() throws(TLSFixtureError) {
        try self.init(below: nil)
    }

    private init(below issuer: CertificateAuthority?) throws(TLSFixtureError) {
        // The name must differ from the issuer's, or the certificate would look self-signed.
        let name = issuer == nil ? "Throw-away test authority" : "Throw-away authority below \(issuer?.depth ?? 0)"
        let order = CertificateMaker.Order(subject: name, purpose: .authority, validFrom: -.hour, validTo: .day)
        let made = try CertificateMaker.make(order, signer: issuer?.signer)
        (certificatePEM, publicKeyPin, key) = (made.pem, made.publicKeyPin, made.key)
        self.issuer = issuer
    }

    /// Makes an intermediate authority below this one. Clients that trust this authority also trust certificates of the new one,
    /// because servers and clients present the intermediate authority's certificate together with their own.
    ///
    /// - Throws: ``TLSFixtureError/failed(_:)`` if OpenSSL can't make the certificate.
    public func intermediate() throws(TLSFixtureError) -> CertificateAuthority {
        try CertificateAuthority(below: self)
    }

    /// The authority at the top, which is the one to trust. A root is its own root.
    public var root: CertificateAuthority { issuer?.root ?? self }

    private var depth: Int { issuer.map { $0.depth + 1 } ?? 0 }

    /// This authority's certificate and those above it, except the root's.
    private var intermediates: [String] { issuer.map { [certificatePEM] + $0.intermediates } ?? [] }

    private var signer: CertificateMaker.Signer { CertificateMaker.Signer(pem: certificatePEM, key: key) }

    // MARK: Issuing

    /// Issues a server's certificate.
    ///
    /// - Parameters:
    ///   - names: The DNS names that the certificate is for.
    ///   - addresses: The IP addresses that the certificate is for.
    ///   - flaw: The deliberate problem with the certificate.
    /// - Throws: ``TLSFixtureError/badName(_:)`` for a name or an address that can't be in a certificate.
    public func issue(
        names: [String] = ["localhost"], addresses: [String] = ["127.0.0.1", "::1"], flaw: Flaw? = nil
    ) throws(TLSFixtureError) -> IssuedCertificate {
        let names = flaw == .wrongHost ? ["wrong.example"] : names
        let addresses = flaw == .wrongHost ? [] : addresses
        for name in names where !Self.canStand(name, beside: "-._*") { throw .badName(name) }
        for address in addresses where !Self.canStand(address, beside: ".:") { throw .badName(address) }
        let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
        guard let subject = (names + addresses).first else { throw .badName("") }
        return try issue(to: subject, purpose: .server(alternatives: alternatives.joined(separator: ",")), flaw: flaw)
    }

    /// Issues a client's certificate.
    ///
    /// - Parameters:
    ///   - name: The client's name, at most 64 characters.
    ///   - flaw: The deliberate problem with the certificate.
    /// - Throws: ``TLSFixtureError/badName(_:)`` for an empty name, ``TLSFixtureError/failed(_:)`` for one that is too long.
    public func issueClient(
        name: String = "test client", flaw: ClientFlaw? = nil
    ) throws(TLSFixtureError) -> IssuedCertificate {
        guard !name.isEmpty else { throw .badName(name) }
        let flaw: Flaw? =
            switch flaw {
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .selfSigned: .selfSigned
            case nil: nil
            }
        return try issue(to: name, purpose: .client, flaw: flaw)
    }

    private func issue(
        to subject: String, purpose: CertificateMaker.Purpose, flaw: Flaw?
    ) throws(TLSFixtureError) -> IssuedCertificate {
        var order = CertificateMaker.Order(subject: subject, purpose: purpose, validFrom: -.hour, validTo: .day)
        var signer: CertificateMaker.Signer? = signer
        switch flaw {
        case .expired: (order.validFrom, order.validTo) = (-2 * .day, -.day)
        case .notYetValid: (order.validFrom, order.validTo) = (.day, 2 * .day)
        case .selfSigned: signer = nil
        case .incompleteChain: signer = try intermediate().signer
        case .wrongHost, nil: break
        }
        return try issue(order, signer: signer)
    }

    /// Issues a certificate as specified by an order.
    func issue(_ order: CertificateMaker.Order) throws(TLSFixtureError) -> IssuedCertificate {
        try issue(order, signer: signer)
    }

    private func issue(_ order: CertificateMaker.Order, signer: CertificateMaker.Signer?) throws(TLSFixtureError)
        -> IssuedCertificate
    {
        let made = try CertificateMaker.make(order, signer: signer)
        return IssuedCertificate(
            authority: self, subject: order.subject, made: made, intermediates: signer == nil ? [] : intermediates)
    }

    // A comma or a line break would add further entries to the certificate.
    private static func canStand(_ name: String, beside others: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                let character = Character(Unicode.Scalar(byte))
                return byte < 0x80 && (character.isLetter || character.isNumber || others.contains(character))
            }
    }

    // MARK: Files

    /// Writes the authority's certificate to a file, which is never deleted automatically.
    ///
    /// - Throws: Foundation's error if the file can't be written.
    public func write(to file: URL) throws {
        try Data(certificatePEM.utf8).write(to: file, options: .atomic)
    }

    /// Returns a file with the authority's certificate. It is deleted when the authority is deallocated.
    ///
    /// - Throws: Foundation's error if the file can't be written.
    public func file() throws -> URL {
        try files.file("authority", with: certificatePEM)
    }
}

extension Int {
    fileprivate static let hour = 3600
    fileprivate static let day = 24 * hour
}
