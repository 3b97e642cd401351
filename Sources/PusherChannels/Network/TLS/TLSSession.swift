#if canImport(COpenSSL)
import COpenSSL
import Foundation
import Glibc

/// The client's side of TLS over one non-blocking socket.
final class TLSSession {
    /// The outcome of a call into OpenSSL.
    enum Outcome {
        case done
        /// Nothing can be done until the socket is readable, or writable.
        case needsInput, needsOutput
        /// The peer sent close_notify.
        case ended
        /// The peer, or something in between, closed the connection without close_notify.
        case cutOff
        /// The socket failed with this error number.
        case broken(Int32)
        case failed(TLSDiagnosis)
    }

    /// The most bytes to read from the socket in one call.
    ///
    /// OpenSSL keeps reading while it gets only data for itself, such as session tickets, so a peer that sends them without end
    /// would keep the loop from serving other connections. The records for a full buffer are smaller than this.
    private static let mostBytesRead: Int32 = 128 << 10

    private let tls: OpaquePointer
    private let context: TLSContext

    /// Prepares a session with a host, whose certificate must be valid for that name or address; `nil` if there is no memory for
    /// it.
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

    /// Requests the certificate of a host and requires it to match. An address isn't sent as a server name (RFC 6066, 3).
    private func expect(_ host: String) -> Bool {
        let parameters = SSL_get0_param(tls)
        if let address = IPAddress(host) {
            return X509_VERIFY_PARAM_set1_ip(parameters, address.bytes, address.bytes.count) == 1
        }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        // Browsers do the same: no "ws*.example", and no name that only the certificate's subject has (RFC 6125, 6.4.3 and
        // 6.4.4).
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        X509_VERIFY_PARAM_set_hostflags(parameters, flags)
        return copenssl_set_server_name(tls, name) == 1 && X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1
    }

    /// Continues the handshake. `done` means that the peer is who it should be.
    func handshake() -> Outcome {
        copenssl_allow_reading(tls, Self.mostBytesRead)
        ERR_clear_error()
        let result = SSL_do_handshake(tls)
        guard result == 1 else { return outcome(result) }
        guard isPinned else { return .failed(.notPinned) }
        return .done
    }

    /// Reads until the buffer is full, nothing is left, or enough was read.
    ///
    /// - Returns: The number of bytes, and the reason why there are no more.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, outcome: Outcome) {
        copenssl_allow_reading(tls, Self.mostBytesRead)
        var count = 0
        while count < buffer.count {
            var size = 0
            ERR_clear_error()  // not a mutant: in tests, no other code of this thread leaves errors
            let result = SSL_read_ex(tls, buffer.baseAddress.map { $0 + count }, buffer.count - count, &size)
            guard result == 1 else { return (count, outcome(result)) }
            count += size
        }
        return (count, .done)
    }

    /// Indicates whether the session holds data that was read from the socket, where a poll can't see it.
    var hasPending: Bool { SSL_has_pending(tls) == 1 }

    /// Indicates whether a message of TLS itself, such as a ticket, was read in part.
    var isAmidMessage: Bool { SSL_in_init(tls) == 1 }

    /// Sends until nothing is left or the socket accepts no more.
    ///
    /// - Returns: The number of bytes, and the reason why there are no more.
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

    /// Sends close_notify, if there is room for it.
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

    /// The role of the client's certificate. A server that requests one sends a list of authorities, up to TLS 1.2 even if it is
    /// empty; later, a request without a list can't be seen here.
    private var clientCertificate: TLSDiagnosis.ClientCertificate {
        if context.configuration.identity != nil { return .shown }
        return SSL_get0_peer_CA_list(tls) == nil ? .notAsked : .missing
    }

    /// Indicates whether a key that vouches for the server is pinned, or no pins are required.
    private var isPinned: Bool {
        let pins = context.pins
        guard !pins.isEmpty else { return true }
        // Without a verified chain, only the server's own certificate counts. The others could be anybody's.
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
