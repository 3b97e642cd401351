#if canImport(COpenSSL)
import COpenSSL

/// What the TLS sessions of one configuration share. Confined to the thread of its loop.
final class TLSContext {
    let configuration: TLSConfiguration
    private let context: OpaquePointer

    init(_ configuration: TLSConfiguration) throws(WebSocketFailure) {
        self.configuration = configuration
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw Self.unusable("OpenSSL: \(OpenSSLError.take())") }
        self.context = context
        let version = configuration.minimumVersion == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        copenssl_configure_client(context, version)
        // Frames say where a message ends, so a missing goodbye hides nothing.
        SSL_CTX_set_options(context, SSL_OP.ignoreUnexpectedEnd | SSL_OP.noRenegotiation)
        switch configuration.verification {
        case .full: SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        case .insecureAcceptAnyCertificate: SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
        }
        try trust(configuration.roots)
        if let identity = configuration.identity { try present(identity) }
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// A session for one connection; nil without memory for it.
    func makeSession() -> OpaquePointer? { SSL_new(context) }

    private func trust(_ roots: TLSConfiguration.Roots) throws(WebSocketFailure) {
        let source: PEMSource?
        switch roots {
        case .system: source = nil
        case .systemAnd(let own), .only(let own): source = own
        }
        if case .only = roots {} else { SSL_CTX_set_default_verify_paths(context) }
        guard let source else { return }
        let certificates = try CertificateList(source)
        for certificate in certificates.elements {
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate)
        }
    }

    private func present(_ identity: TLSConfiguration.Identity) throws(WebSocketFailure) {
        let chain = try CertificateList(identity.certificateChain)
        for (index, certificate) in chain.elements.enumerated() {
            let added = index == 0 ? SSL_CTX_use_certificate(context, certificate) : copenssl_add_to_chain(context, certificate)
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

    static func unusable(_ message: String) -> WebSocketFailure {
        WebSocketFailure(.tlsFailed(.invalidConfiguration), message)
    }

    private enum SSL_OP {
        static let ignoreUnexpectedEnd: UInt64 = 1 << 7
        static let noRenegotiation: UInt64 = 1 << 30
    }
}
#endif
