#if canImport(COpenSSL)
import COpenSSL
import Foundation
import Glibc

/// The client's side of TLS over one socket, which doesn't block.
final class TLSSession {
    /// The end of a call into OpenSSL.
    enum Outcome {
        case done
        /// Nothing more before the socket can be read, or written.
        case needsInput, needsOutput
        /// The peer sent close_notify.
        case ended
        /// The peer hung up without that, or somebody between did.
        case cutOff
        /// The socket failed with this error number.
        case broken(Int32)
        case failed(TLSDiagnosis)
    }

    /// The bytes that are read from the socket in one call at most. OpenSSL reads on where what it read is for itself, such as tickets: a peer
    /// that sends them without end would keep the loop from everybody else. Records of a full buffer are less.
    private static let mostBytesRead: Int32 = 128 << 10

    private let tls: OpaquePointer
    private let context: TLSContext

    /// Prepares a session with a host, whose certificate must be for that name or address. Nil without memory for it.
    init?(_ context: TLSContext, descriptor: Int32, host: String) {
        guard let tls = context.makeSession(over: descriptor) else { return nil }
        self.tls = tls
        self.context = context
        guard expect(host) else { return nil }
        SSL_set_connect_state(tls)
    }

    deinit {
        SSL_free(tls)
    }

    /// Asks for the certificate of a host, and has it checked against that; an address isn't asked for (RFC 6066, 3).
    private func expect(_ host: String) -> Bool {
        let parameters = SSL_get0_param(tls)
        if let address = IPAddress(host) {
            return X509_VERIFY_PARAM_set1_ip(parameters, address.bytes, address.bytes.count) == 1
        }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        // As browsers do it: no "ws*.example", and no name where only the subject has one (RFC 6125, 6.4.3 and 6.4.4).
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        X509_VERIFY_PARAM_set_hostflags(parameters, flags)
        return copenssl_set_server_name(tls, name) == 1 && X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1
    }

    /// Goes on with the handshake; `done` means that the peer is who it should be.
    func handshake() -> Outcome {
        copenssl_allow_reading(tls, Self.mostBytesRead)
        ERR_clear_error()
        let result = SSL_do_handshake(tls)
        guard result == 1 else { return outcome(result) }
        guard isPinned else { return .failed(.notPinned) }
        return .done
    }

    /// Reads until the buffer is full, nothing is left or it has read enough; how many bytes, and why no more.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, outcome: Outcome) {
        copenssl_allow_reading(tls, Self.mostBytesRead)
        var count = 0
        while count < buffer.count {
            var size = 0
            ERR_clear_error()
            let result = SSL_read_ex(tls, buffer.baseAddress.map { $0 + count }, buffer.count - count, &size)
            guard result == 1 else { return (count, outcome(result)) }
            count += size
        }
        return (count, .done)
    }

    /// True if something that was read from the socket waits in the session, where nobody can see it.
    var hasPending: Bool { SSL_has_pending(tls) == 1 }

    /// Sends until nothing is left or the socket takes no more; how many bytes, and why no more.
    func send(_ bytes: UnsafeRawBufferPointer) -> (count: Int, outcome: Outcome) {
        copenssl_allow_reading(tls, Self.mostBytesRead)
        var count = 0
        while count < bytes.count {
            var size = 0
            ERR_clear_error()
            let result = SSL_write_ex(tls, bytes.baseAddress.map { $0 + count }, bytes.count - count, &size)
            guard result == 1 else { return (count, outcome(result)) }
            count += size
        }
        return (count, .done)
    }

    /// Tells the peer that nothing follows, if there is room for it.
    func sendCloseNotify() {
        guard SSL_is_init_finished(tls) == 1 else { return }
        ERR_clear_error()
        SSL_shutdown(tls)
        ERR_clear_error()
    }

    private func outcome(_ result: Int32) -> Outcome {
        let number = errno
        switch SSL_get_error(tls, result) {
        case SSL_ERROR_WANT_READ: return .needsInput
        case SSL_ERROR_WANT_WRITE: return .needsOutput
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL:
            ERR_clear_error()
            return number == 0 ? .cutOff : .broken(number)
        default:
            let error = OpenSSLError.take()
            if error == .unexpectedEnd { return .cutOff }
            return .failed(TLSDiagnosis(error, verdict: SSL_get_verify_result(tls), clientCertificate: clientCertificate))
        }
    }

    /// The fate of the client's certificate. A server that asks for one sends a list of authorities, if an empty one.
    private var clientCertificate: TLSDiagnosis.ClientCertificate {
        if context.configuration.identity != nil { return .shown }
        return SSL_get0_peer_CA_list(tls) == nil ? .notAsked : .missing
    }

    /// True if one of the keys that vouch for the server is pinned, or none needs to be.
    private var isPinned: Bool {
        let pins = context.pins
        guard !pins.isEmpty else { return true }
        // Without a verified chain only the server's own certificate counts: the rest may be anybody's.
        guard let chain = SSL_get_verify_result(tls) == X509_V_OK ? SSL_get0_verified_chain(tls) : nil else {
            return SSL_get0_peer_certificate(tls).map { pins.contains(Self.publicKeyPin(of: $0)) } ?? false
        }
        return (0..<copenssl_chain_count(chain)).contains { index in
            copenssl_chain_certificate(chain, index).map { pins.contains(Self.publicKeyPin(of: $0)) } ?? false
        }
    }

    private static func publicKeyPin(of certificate: OpaquePointer) -> String {
        var encoded: UnsafeMutablePointer<UInt8>?
        let size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded)
        defer { CRYPTO_free(encoded, nil, 0) }
        guard size > 0, let encoded else { return "" }
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_Digest(encoded, Int(size), &digest, nil, EVP_sha256(), nil)
        return Data(digest).base64EncodedString()
    }
}
#endif
