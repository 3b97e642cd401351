#if canImport(COpenSSL)
import COpenSSL

/// The certificate authorities that may vouch for a server. Confined to the thread of its loop.
final class CertificateStore {
    let store: OpaquePointer

    init(_ roots: TLSConfiguration.Roots) throws(TransportError) {
        guard let store = X509_STORE_new() else { throw TLSContext.unusable("OpenSSL: \(OpenSSLError.take())") }
        self.store = store
        switch roots {
        case .system: try SystemRoots.add(to: store)
        case .only(let source): try add(source)
        case .systemAnd(let source):
            try SystemRoots.add(to: store)
            try add(source)
        }
    }

    deinit {
        X509_STORE_free(store)
    }

    private func add(_ source: PEMSource) throws(TransportError) {
        try CertificateList(source).forEach { X509_STORE_add_cert(store, $0) }
    }
}
#endif
