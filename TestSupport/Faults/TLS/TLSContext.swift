/// What the TLS streams of one server share: its certificate and key.
final class TLSContext {
    #if canImport(COpenSSL)
    private let context: OpaquePointer
    #endif

    init(_ certificate: ServerCertificate) throws(TLSTrouble) {
        #if canImport(COpenSSL)
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw CertificateMaker.failure() }
        self.context = context
        let leaf = try CertificateMaker.parse(certificate.certificatePEM)
        defer { X509_free(leaf) }
        let key = try CertificateMaker.parse(certificate.key)
        defer { EVP_PKEY_free(key) }
        copenssl_require_tls12(context)
        // A ticket that a client leaves unread would make its goodbye a reset.
        guard SSL_CTX_set_num_tickets(context, 0) == 1, SSL_CTX_use_certificate(context, leaf) == 1,
            SSL_CTX_use_PrivateKey(context, key) == 1
        else { throw CertificateMaker.failure() }
        #else
        throw .unsupported
        #endif
    }

    deinit {
        #if canImport(COpenSSL)
        SSL_CTX_free(context)
        #endif
    }

    /// A stream that speaks TLS over a socket; without memory for it, one that passes nothing on.
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

/// The server's side of TLS over a socket: OpenSSL sees memory only, so that every byte's place is known.
final class TLSStream: ProxyStream {
    let descriptor: Int32
    private let tls: OpaquePointer?
    /// From and to the network; they belong to `tls`.
    private let incoming: OpaquePointer?
    private let outgoing: OpaquePointer?
    private var unsent = ByteQueue()
    private(set) var hasReceived = false
    /// A TLS record at most, and one read of the network.
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
        while true {
            ERR_clear_error()
            // Shakes hands as well, as long as that isn't done.
            let count = SSL_read(tls, buffer.baseAddress, Int32(buffer.count))
            collect()
            if count > 0 { return .bytes(Int(count)) }
            switch SSL_get_error(tls, count) {
            case SSL_ERROR_WANT_READ: break
            case SSL_ERROR_ZERO_RETURN: return .end
            default:
                // An alert may be on its way.
                _ = flush()
                return .reset
            }
            switch Sockets.receive(descriptor, into: scratch) {
            case .bytes(let count):
                hasReceived = true
                BIO_write(incoming, scratch.baseAddress, Int32(count))
            case let other: return other
            }
        }
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

    func sayGoodbye() {
        guard let tls, isReady else { return }
        SSL_shutdown(tls)
        collect()
        _ = flush()
    }

    /// Takes over what OpenSSL wants to be sent.
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
