import PusherChannels

/// The settings that the TLS streams of one server share: its certificate and key, and its requirements for client certificates.
final class TLSContext {
    #if canImport(COpenSSL)
    let context: OpaquePointer
    #endif

    init(_ tls: ServerTLS, showing certificate: IssuedCertificate) throws(TLSFixtureError) {
        #if canImport(COpenSSL)
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw CertificateMaker.failure() }
        self.context = context
        // Every connection does a full handshake; otherwise a client certificate of an earlier connection would count for it.
        // Besides, a session ticket that a client leaves unread would turn its close into a reset.
        copenssl_forget_sessions(context)
        copenssl_send_given_chain_only(context)
        guard SSL_CTX_set_num_tickets(context, 0) == 1,
            copenssl_set_versions(context, tls.versions.lowerBound.rawValue, tls.versions.upperBound.rawValue) == 1
        else { throw CertificateMaker.failure() }
        try show(certificate)
        if case .required(let authority) = tls.clientCertificates { try requireCertificates(of: authority) }
        #else
        throw .unsupported
        #endif
    }

    #if canImport(COpenSSL)
    private func show(_ certificate: IssuedCertificate) throws(TLSFixtureError) {
        let key = try CertificateMaker.parse(certificate.key)
        defer { EVP_PKEY_free(key) }
        for (index, pem) in ([certificate.certificatePEM] + certificate.intermediates).enumerated() {
            let parsed = try CertificateMaker.parse(pem)
            defer { X509_free(parsed) }
            let use = index == 0 ? SSL_CTX_use_certificate : copenssl_add_to_chain
            guard use(context, parsed) == 1 else { throw CertificateMaker.failure() }
        }
        guard SSL_CTX_use_PrivateKey(context, key) == 1 else { throw CertificateMaker.failure() }
    }

    private func requireCertificates(of authority: CertificateAuthority) throws(TLSFixtureError) {
        let trusted = try CertificateMaker.parse(authority.certificatePEM)
        defer { X509_free(trusted) }
        let store = SSL_CTX_get_cert_store(context)
        // The required authority may be an intermediate one.
        guard X509_STORE_add_cert(store, trusted) == 1, X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1,
            SSL_CTX_add_client_CA(context, trusted) == 1
        else { throw CertificateMaker.failure() }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }
    #endif

    deinit {
        #if canImport(COpenSSL)
        SSL_CTX_free(context)
        #endif
    }

    /// Returns a stream that speaks TLS over a socket, or, if there is no memory for it, one that passes nothing on.
    func stream(over descriptor: Int32) -> any ProxyStream {
        #if canImport(COpenSSL)
        TLSStream(descriptor: descriptor, context: context)
        #else
        PlainStream(descriptor: descriptor)
        #endif
    }
}

#if canImport(COpenSSL)
import COpenSSL

/// The server's side of TLS over a socket. OpenSSL only sees memory, so the position of every byte is known.
final class TLSStream: ProxyStream {
    let descriptor: Int32
    private let tls: OpaquePointer?
    /// The bytes from and to the network. `tls` owns both.
    private let incoming: OpaquePointer?
    private let outgoing: OpaquePointer?
    private var unsent = ByteQueue()
    private(set) var hasReceived = false
    private(set) var hasRefused = false
    /// The largest size of a TLS record, and of one read from the network.
    private static let recordSize = 16_384
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: recordSize, alignment: 16)

    init(descriptor: Int32, context: OpaquePointer) {
        self.descriptor = descriptor
        tls = SSL_new(context)
        incoming = copenssl_make_memory()
        outgoing = copenssl_make_memory()
        if let tls {
            SSL_set_bio(tls, incoming, outgoing)
            SSL_set_accept_state(tls)
        }
    }

    deinit {
        if let tls {
            SSL_free(tls)
        } else {
            BIO_free(incoming)
            BIO_free(outgoing)
        }
        scratch.deallocate()
    }

    var hasUnsent: Bool { !unsent.isEmpty }

    var isReady: Bool { tls.map { SSL_is_init_finished($0) == 1 } ?? false }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Sockets.Received {
        guard let tls else { return .reset }
        while !hasRefused {
            ERR_clear_error()
            // Also does the handshake until that is complete.
            let count = SSL_read(tls, buffer.baseAddress, Int32(buffer.count))
            collect()
            if count > 0 { return .bytes(Int(count)) }
            switch SSL_get_error(tls, count) {
            case SSL_ERROR_WANT_READ: break
            case SSL_ERROR_ZERO_RETURN: return .end
            default:
                hasRefused = true
                continue
            }
            switch Sockets.receive(descriptor, into: scratch) {
            case .bytes(let count):
                hasReceived = true
                BIO_write(incoming, scratch.baseAddress, Int32(count))
            case let other: return other
            }
        }
        let rest = Sockets.receive(descriptor, into: scratch)
        if case .bytes = rest { return .nothingYet }
        return rest
    }

    func send(_ queue: ByteQueue, atMost limit: Int) -> Sockets.Sent {
        guard let tls else { return .broken }
        guard unsent.isEmpty else { return .notYet }
        ERR_clear_error()
        let count = queue.withPrefix(min(limit, Self.recordSize)) { SSL_write(tls, $0.baseAddress, Int32($0.count)) }
        guard count > 0 else { return .broken }
        collect()
        if flush() == .broken { return .broken }
        return .bytes(Int(count))
    }

    func flush() -> Sockets.Sent {
        while !unsent.isEmpty {
            switch Sockets.send(descriptor, &unsent) {
            case .bytes: continue
            case let other: return other
            }
        }
        return .bytes(0)
    }

    func sendCloseNotify() {
        guard let tls, isReady else { return }
        SSL_shutdown(tls)
        collect()
        _ = flush()
    }

    /// Takes the bytes that OpenSSL wants to send, and sends them.
    private func collect() {
        while true {
            let count = BIO_read(outgoing, scratch.baseAddress, Int32(scratch.count))
            guard count > 0 else { break }
            unsent.append(UnsafeRawBufferPointer(rebasing: scratch[..<Int(count)]))
        }
        _ = flush()
    }
}
#endif
