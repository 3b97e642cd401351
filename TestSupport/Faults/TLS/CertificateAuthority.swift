import Foundation
import PusherChannels

/// An authority for the certificates of test servers: made in memory, valid for a day, trusted by nobody who isn't told to.
///
/// ```swift
/// let authority = try CertificateAuthority()
/// let server = try await LocalServer.start(tls: .certificate(authority.issue()))
/// let file = try authority.file()  // For clients that take a file: curl --cacert, SSL_CERT_FILE.
/// ```
///
/// All members may be called from any thread.
public final class CertificateAuthority: Sendable {
    /// What is wrong with a certificate, on purpose.
    public enum Flaw: Sendable, CaseIterable {
        /// It was valid until yesterday.
        case expired
        /// It is valid from tomorrow on.
        case notYetValid
        /// It is for a host of another name, `wrong.example`.
        case wrongHost
        /// It is signed by itself instead of by the authority.
        case selfSigned
    }

    /// The root certificate, to be trusted.
    public let certificatePEM: String
    private let key: PrivateKey
    private let temporary = Locked<URL?>(nil)

    /// Makes a new authority with a key of its own.
    ///
    /// - Throws: ``TLSTrouble/unsupported`` where there is no OpenSSL.
    public init() throws(TLSTrouble) {
        (certificatePEM, key) = try CertificateMaker.make(
            CertificateMaker.Order(
                subject: "Throw-away test authority", purpose: .authority, validFrom: -.hour, validTo: .day))
    }

    deinit {
        if let file = temporary.withLock({ $0 }) { try? FileManager.default.removeItem(at: file) }
    }

    /// Issues a server's certificate.
    ///
    /// - Parameters:
    ///   - names: The DNS names it is for.
    ///   - addresses: The IP addresses it is for.
    ///   - flaw: What is wrong with it.
    /// - Throws: ``TLSTrouble/badName(_:)`` for what can't stand in a certificate.
    public func issue(
        names: [String] = ["localhost"], addresses: [String] = ["127.0.0.1", "::1"], flaw: Flaw? = nil
    ) throws(TLSTrouble) -> ServerCertificate {
        let names = flaw == .wrongHost ? ["wrong.example"] : names
        let addresses = flaw == .wrongHost ? [] : addresses
        for name in names where !Self.canStand(name, beside: "-._*") { throw .badName(name) }
        for address in addresses where !Self.canStand(address, beside: ".:") { throw .badName(address) }
        let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
        guard let subject = (names + addresses).first else { throw .badName("") }
        var order = CertificateMaker.Order(
            subject: subject, purpose: .server(alternatives: alternatives.joined(separator: ",")), validFrom: -.hour,
            validTo: .day)
        switch flaw {
        case .expired: (order.validFrom, order.validTo) = (-2 * .day, -.day)
        case .notYetValid: (order.validFrom, order.validTo) = (.day, 2 * .day)
        case .wrongHost, .selfSigned, nil: break
        }
        let issuer = flaw == .selfSigned ? nil : (certificatePEM, key)
        let (pem, key) = try CertificateMaker.make(order, issuer: issuer)
        return ServerCertificate(authority: self, subject: subject, certificatePEM: pem, key: key)
    }

    // A comma or a line break would become further entries of the certificate.
    private static func canStand(_ name: String, beside others: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                let character = Character(Unicode.Scalar(byte))
                return byte < 0x80 && (character.isLetter || character.isNumber || others.contains(character))
            }
    }

    // MARK: Files

    /// Writes the root certificate to a file, which stays.
    public func write(to file: URL) throws {
        try Data(certificatePEM.utf8).write(to: file, options: .atomic)
    }

    /// A file with the root certificate, which goes when the authority is let go.
    public func file() throws -> URL {
        try temporary.withLock { temporary in
            if let temporary { return temporary }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString).pem")
            try write(to: file)
            temporary = file
            return file
        }
    }
}

extension Int {
    fileprivate static let hour = 3600
    fileprivate static let day = 24 * hour
}
