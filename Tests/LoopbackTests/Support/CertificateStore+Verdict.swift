#if os(Linux)
import COpenSSL
@testable import PusherChannels
import TestSupport

extension CertificateStore {
    /// Returns whether a certificate leads to one of the authorities.
    func vouches(for certificate: IssuedCertificate) throws -> Bool {
        let list = try CertificateList(.text(certificate.certificatePEM))
        guard let verification = X509_STORE_CTX_new() else { return false }
        defer { X509_STORE_CTX_free(verification) }
        var isGood = false
        list.forEach { certificate in
            isGood = X509_STORE_CTX_init(verification, store, certificate, nil) == 1 && X509_verify_cert(verification) == 1
        }
        return isGood
    }
}
#endif
