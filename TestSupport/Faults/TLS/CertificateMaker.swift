#if canImport(COpenSSL)
import COpenSSL
import Foundation
#endif

/// Makes certificates with keys of their own: elliptic curve P-256, SHA-256.
enum CertificateMaker {
    enum Purpose {
        case authority
        case server(alternatives: String)
    }

    struct Order {
        let subject: String
        let purpose: Purpose
        /// In seconds from now.
        var validFrom: Int
        var validTo: Int
    }

    #if !canImport(COpenSSL)
    static func make(
        _ order: Order, issuer: (pem: String, key: PrivateKey)? = nil
    ) throws(TLSTrouble) -> (pem: String, key: PrivateKey) {
        throw .unsupported
    }
    #else
    /// Makes a certificate, signed by an issuer or else by itself.
    static func make(
        _ order: Order, issuer: (pem: String, key: PrivateKey)? = nil
    ) throws(TLSTrouble) -> (pem: String, key: PrivateKey) {
        guard let key = copenssl_make_p256_key(), let certificate = X509_new() else { throw failure() }
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        let issuerCertificate = try issuer.map { signer throws(TLSTrouble) in try parse(signer.pem) }
        let issuerKey = try issuer.map { signer throws(TLSTrouble) in try parse(signer.key) }
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
            && extensions(for: order.purpose).allSatisfy { kind, value in
                copenssl_add_extension(certificate, issuerCertificate ?? certificate, kind, value) == 1
            }
            && X509_sign(certificate, issuerKey ?? key, EVP_sha256()) > 0
        guard isMade else { throw failure() }
        let der = encode { i2d_X509(certificate, $0) }
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let pem = "-----BEGIN CERTIFICATE-----\n\(body)\n-----END CERTIFICATE-----\n"
        return (pem, PrivateKey(der: encode { i2d_PrivateKey(key, $0) }))
    }

    private static func extensions(for purpose: Purpose) -> [(Int32, String)] {
        switch purpose {
        case .authority:
            [
                (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ]
        case .server(let alternatives):
            [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"), (NID_subject_key_identifier, "hash"),
                (NID_subject_alt_name, alternatives),
            ]
        }
    }

    private static func encode(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(max(0, write(nil))))
        bytes.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            _ = write(&cursor)
        }
        return bytes
    }

    // MARK: Reading back

    /// A certificate that its owner must free.
    static func parse(_ pem: String) throws(TLSTrouble) -> OpaquePointer {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        let bytes = [UInt8](Data(base64Encoded: lines) ?? Data())
        guard let certificate = bytes.withUnsafeBufferPointer({ decode($0, d2i_X509) }) else { throw failure() }
        return certificate
    }

    /// A key that its owner must free.
    static func parse(_ key: PrivateKey) throws(TLSTrouble) -> OpaquePointer {
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

    /// What OpenSSL has to say about what just went wrong on this thread.
    static func failure() -> TLSTrouble {
        let code = ERR_get_error()
        ERR_clear_error()
        return .failed(ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given")
    }
    #endif
}
