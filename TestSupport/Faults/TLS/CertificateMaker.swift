#if canImport(COpenSSL)
import COpenSSL
import Foundation
#endif

/// Makes certificates, each with a new key: elliptic curve P-256, SHA-256.
enum CertificateMaker {
    enum Purpose {
        case authority
        case server(alternatives: String)
        case client
    }

    /// The issuer of a certificate.
    struct Signer {
        let pem: String
        let key: PrivateKey
    }

    /// A certificate with its key and pin.
    struct Made {
        let pem: String
        let key: PrivateKey
        let publicKeyPin: String
    }

    struct Order {
        let subject: String
        let purpose: Purpose
        /// The time in seconds from now.
        var validFrom: Int
        var validTo: Int
    }

    #if !canImport(COpenSSL)
    static func make(_ order: Order, signer: Signer?) throws(TLSFixtureError) -> Made { throw .unsupported }
    #else
    /// Makes a certificate that is signed by `signer`, or self-signed without one.
    static func make(_ order: Order, signer: Signer?) throws(TLSFixtureError) -> Made {
        guard let key = copenssl_make_p256_key(), let certificate = X509_new() else { throw failure() }
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        let issuerCertificate = try signer.map { signer throws(TLSFixtureError) in try parse(signer.pem) }
        let issuerKey = try signer.map { signer throws(TLSFixtureError) in try parse(signer.key) }
        defer {
            X509_free(issuerCertificate)
            EVP_PKEY_free(issuerKey)
        }
        var serial: UInt64 = 0
        let isMade =
            RAND_bytes(&serial, Int32(MemoryLayout<UInt64>.size)) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1
            && X509_set_version(certificate, 2) == 1
            && X509_gmtime_adj(X509_getm_notBefore(certificate), order.validFrom) != nil
            && X509_gmtime_adj(X509_getm_notAfter(certificate), order.validTo) != nil
            && X509_set_pubkey(certificate, key) == 1
            && X509_NAME_add_entry_by_txt(
                X509_get_subject_name(certificate), "CN", 0x1000 | 1, order.subject, -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, X509_get_subject_name(issuerCertificate ?? certificate)) == 1
            && extensions(for: order.purpose, isSelfSigned: signer == nil).allSatisfy { kind, value in
                copenssl_add_extension(certificate, issuerCertificate ?? certificate, kind, value) == 1
            }
            && X509_sign(certificate, issuerKey ?? key, EVP_sha256()) > 0
        guard isMade else { throw failure() }
        let keyInfo = EVP_PKEY2PKCS8(key)
        defer { PKCS8_PRIV_KEY_INFO_free(keyInfo) }
        return Made(
            pem: PEM.text("CERTIFICATE", encode { i2d_X509(certificate, $0) }),
            key: PrivateKey(der: encode { i2d_PKCS8_PRIV_KEY_INFO(keyInfo, $0) }),
            publicKeyPin: try pin(of: encode { i2d_PUBKEY(key, $0) }))
    }

    private static func pin(of publicKey: [UInt8]) throws(TLSFixtureError) -> String {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_Digest(publicKey, publicKey.count, &digest, &count, EVP_sha256(), nil) == 1 else { throw failure() }
        return Data(digest.prefix(Int(count))).base64EncodedString()
    }

    private static func extensions(for purpose: Purpose, isSelfSigned: Bool) -> [(Int32, String)] {
        // Authorities with the same name are told apart by their keys.
        let ends = [(NID_subject_key_identifier, "hash")] + (isSelfSigned ? [] : [(NID_authority_key_identifier, "keyid")])
        return switch purpose {
        case .authority:
            [(NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign")] + ends
        case .server(let alternatives):
            leaf("serverAuth") + [(NID_subject_alt_name, alternatives)] + ends
        case .client:
            leaf("clientAuth") + ends
        }
    }

    private static func leaf(_ usage: String) -> [(Int32, String)] {
        [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, usage),
        ]
    }

    private static func encode(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(max(0, write(nil))))
        bytes.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            _ = write(&cursor)
        }
        return bytes
    }

    // MARK: Parsing

    /// Parses a certificate, which the caller must free.
    static func parse(_ pem: String) throws(TLSFixtureError) -> OpaquePointer {
        guard let certificate = PEM.bytes(pem).withUnsafeBufferPointer({ decode($0, d2i_X509) }) else { throw failure() }
        return certificate
    }

    /// Parses a key, which the caller must free.
    static func parse(_ key: PrivateKey) throws(TLSFixtureError) -> OpaquePointer {
        guard let parsed = key.der.withUnsafeBufferPointer({ decode($0, d2i_AutoPrivateKey) }) else { throw failure() }
        return parsed
    }

    private typealias Decode = (
        UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
    ) -> OpaquePointer?

    private static func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ decode: Decode) -> OpaquePointer? {
        var cursor = bytes.baseAddress
        return decode(nil, &cursor, bytes.count)
    }

    /// Returns OpenSSL's reason for the failure that just happened on this thread.
    static func failure() -> TLSFixtureError {
        let code = ERR_get_error()
        ERR_clear_error()
        return .failed(ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given")
    }
    #endif
}
