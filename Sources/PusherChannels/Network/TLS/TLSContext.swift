#if canImport(COpenSSL)
import COpenSSL
import Foundation

/// The OpenSSL context that the TLS sessions of one configuration share. Confined to the thread of its loop.
final class TLSContext {
    let configuration: TLSConfiguration
    private let context: OpaquePointer
    /// The functions by which OpenSSL reads and writes sockets.
    private let socketMethod: OpaquePointer
    /// The pinned keys, in the form that ``TLSSession`` computes.
    let pins: Set<String>

    init(_ configuration: TLSConfiguration, trusting store: CertificateStore) throws(TransportError) {
        self.configuration = configuration
        pins = try Self.pins(configuration.pinnedPublicKeys)
        guard let socketMethod = copenssl_make_socket_method() else { throw Self.unusable("OpenSSL: \(OpenSSLError.take())") }
        self.socketMethod = socketMethod
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            BIO_meth_free(socketMethod)
            throw Self.unusable("OpenSSL: \(OpenSSLError.take())")
        }
        self.context = context
        let version = configuration.minimumVersion == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        copenssl_configure_client(context, version)
        SSL_CTX_set_options(context, SSL_OP.noRenegotiation)
        switch configuration.verification {
        case .full: SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        case .insecureAcceptAnyCertificate: SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
        }
        SSL_CTX_set1_cert_store(context, store.store)
        if let identity = configuration.identity { try present(identity) }
    }

    deinit {
        SSL_CTX_free(context)
        BIO_meth_free(socketMethod)
    }

    /// Creates a session over one socket; `nil` if there is no memory for it.
    func makeSession(over descriptor: Int32) -> OpaquePointer? {
        guard let session = SSL_new(context) else { return nil }
        if copenssl_set_socket(session, socketMethod, descriptor) == 1 { return session }
        SSL_free(session)
        return nil
    }

    private func present(_ identity: TLSConfiguration.Identity) throws(TransportError) {
        var isFirst = true
        try CertificateList(identity.certificateChain).forEach { certificate throws(TransportError) in
            let added = isFirst ? SSL_CTX_use_certificate(context, certificate) : copenssl_add_to_chain(context, certificate)
            isFirst = false
            guard added == 1 else {
                throw Self.unusable("The client certificate (\(identity.certificateChain)) can't be used: \(OpenSSLError.take())")
            }
        }
        let key = try identity.privateKey.withMemory { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil) }
        guard let key else {
            ERR_clear_error()
            throw Self.unusable("There is no private key without a pass phrase in \(identity.privateKey)")
        }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(context, key) == 1 else {
            ERR_clear_error()
            throw Self.unusable(
                "The private key (\(identity.privateKey)) doesn't belong to the client certificate (\(identity.certificateChain))"
            )
        }
    }

    /// Returns the pins without their optional prefix. A text that can't be a pin is an error, as all connections would fail for
    /// a reason that is hard to find.
    private static func pins(_ pins: Set<String>) throws(TransportError) -> Set<String> {
        var known: Set<String> = []
        for pin in pins {
            let digest = pin.hasPrefix("sha256//") ? String(pin.dropFirst(8)) : pin
            guard Data(base64Encoded: digest)?.count == 32 else {
                throw unusable("\(pin.debugDescription) isn't a pin of a public key: SHA-256 in base64")
            }
            known.insert(digest)
        }
        return known
    }

    static func unusable(_ message: String) -> TransportError {
        TransportError(.tlsFailed(.invalidConfiguration), message)
    }

    private enum SSL_OP {
        static let noRenegotiation: UInt64 = 1 << 30
    }
}
#endif
