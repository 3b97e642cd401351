import Foundation

#if canImport(COpenSSL)
import COpenSSL
#endif

/// A private key's bytes, which are never printed.
struct PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The key as PKCS #8.
    let der: [UInt8]
    var description: String { "private key" }
    var customMirror: Mirror { Mirror(self, children: []) }

    var pem: String { PEM.text("PRIVATE KEY", der) }

    #if !canImport(COpenSSL)
    func encryptedPEM(password: String) throws(TLSFixtureError) -> String { throw .unsupported }
    #else
    func encryptedPEM(password: String) throws(TLSFixtureError) -> String {
        let key = try CertificateMaker.parse(self)
        defer { EVP_PKEY_free(key) }
        guard let memory = copenssl_make_memory() else { throw CertificateMaker.failure() }
        defer { BIO_free(memory) }
        let isWritten = password.withCString { word in
            PEM_write_bio_PKCS8PrivateKey(memory, key, EVP_aes_256_cbc(), word, Int32(password.utf8.count), nil, nil)
        }
        guard isWritten == 1 else { throw CertificateMaker.failure() }
        let bytes = [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(memory)) { buffer, count in
            count = Int(max(0, BIO_read(memory, buffer.baseAddress, Int32(buffer.count))))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
    #endif
}

/// Text with bytes in base64 between two lines that name their kind.
enum PEM {
    static func text(_ kind: String, _ der: [UInt8]) -> String {
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(kind)-----\n\(body)\n-----END \(kind)-----\n"
    }

    /// Returns the bytes of a text that has one item.
    static func bytes(_ text: String) -> [UInt8] {
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        return [UInt8](Data(base64Encoded: lines) ?? Data())
    }
}
