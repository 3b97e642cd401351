#if canImport(COpenSSL)
import COpenSSL

/// An error that OpenSSL reports.
struct OpenSSLError: Equatable {
    let library: Int32
    let reason: Int32

    /// Takes the error of the call just made on this thread. Of several, this is the last, which is the outcome of the others.
    static func take() -> OpenSSLError {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        return OpenSSLError(library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code))
    }

    /// Takes the errors of the call just made on this thread, and returns the shortage that led to the others, if there is one.
    static func takeShortage() -> SystemError? {
        var shortage: SystemError?
        while case let code = ERR_get_error(), code != 0 {
            let error = SystemError(number: ERR_GET_REASON(code))
            if ERR_GET_LIB(code) == ERR_LIB_SYS, error.isShortage { shortage = error }
        }
        return shortage
    }
}

extension OpenSSLError {
    /// The stream ended without close_notify.
    static let unexpectedEnd = OpenSSLError(library: ERR_LIB_SSL, reason: SSL_R_UNEXPECTED_EOF_WHILE_READING)
}

extension OpenSSLError: CustomStringConvertible {
    var description: String {
        let code = UInt(library) << 23 | UInt(reason)
        let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
        // An alert's text begins with the protocol that first had the alert, which OpenSSL's versions name differently, so that
        // part is left out.
        let isAlert = library == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET
        guard isAlert, let alert = text.firstRange(of: "alert ") else { return text }
        return String(text[alert.lowerBound...])
    }
}

/// The reason why a TLS session failed, for code and for people.
struct TLSDiagnosis {
    let failure: TLSError
    let reason: String

    /// Indicates whether the server wants a client certificate, or another one.
    var isOfClientCertificate: Bool { failure == .clientCertificateRequired || failure == .clientCertificateRefused }

    /// Returns the failure to report for a server.
    func failure(endpoint: String) -> TransportError {
        let advice = failure == .notTLS ? ": \(Self.withoutTLS)" : ""
        return TransportError(.tlsFailed(failure), "TLS with \(endpoint) failed: \(reason)\(advice)")
    }

    static let notPinned = TLSDiagnosis(
        failure: .publicKeyNotPinned, reason: "none of the public keys that vouch for the server is a pinned one")

    private init(failure: TLSError, reason: String) {
        self.failure = failure
        self.reason = reason
    }

    /// The advice for when the peer may not speak TLS at all.
    static let withoutTLS = "a server without TLS needs `useTLS: false`, or http:// in its address"

    /// The role of the client's certificate in a handshake.
    enum ClientCertificate {
        case notAsked, missing, shown
    }

    /// Interprets an error. `verdict` is the verifier's result for the server's certificate.
    init(_ error: OpenSSLError, verdict: Int, clientCertificate: ClientCertificate) {
        guard error.library == ERR_LIB_SSL else {
            self.init(failure: .handshakeFailed, reason: "\(error)")
            return
        }
        switch (error.reason - SSL_AD_REASON_OFFSET, clientCertificate) {
        case (SSL_R_CERTIFICATE_VERIFY_FAILED - SSL_AD_REASON_OFFSET, _):
            self.init(verdict: verdict)
        // TLS 1.2 and older have no alert for a missing client certificate, and servers differ in the one that they send instead.
        case (SSL_AD_CERTIFICATE_REQUIRED, _), (SSL_AD_HANDSHAKE_FAILURE, .missing), (SSL_AD_BAD_CERTIFICATE, .missing),
            (SSL_AD_BAD_CERTIFICATE, .notAsked):
            self.init(failure: .clientCertificateRequired, reason: "the server wants a client certificate (\(error))")
        case (SSL_AD_BAD_CERTIFICATE, _), (SSL_AD_UNSUPPORTED_CERTIFICATE, _), (SSL_AD_CERTIFICATE_REVOKED, _),
            (SSL_AD_CERTIFICATE_EXPIRED, _), (SSL_AD_CERTIFICATE_UNKNOWN, _), (SSL_AD_UNKNOWN_CA, _), (SSL_AD_ACCESS_DENIED, _):
            self.init(failure: .clientCertificateRefused, reason: "the server refuses the client certificate (\(error))")
        case (SSL_AD_PROTOCOL_VERSION, _):
            self.init(failure: .unsupportedVersion, reason: "the server speaks no TLS version that is allowed here (\(error))")
        default:
            self.init(error)
        }
    }

    private init(_ error: OpenSSLError) {
        switch error.reason {
        case SSL_R_UNSUPPORTED_PROTOCOL:
            self.init(failure: .unsupportedVersion, reason: "the server speaks no TLS version that is allowed here (\(error))")
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_UNKNOWN_PROTOCOL, SSL_R_PACKET_LENGTH_TOO_LONG,
            SSL_R_UNEXPECTED_MESSAGE:
            self.init(failure: .notTLS, reason: "what answers doesn't speak TLS (\(error))")
        default:
            self.init(failure: .handshakeFailed, reason: "\(error)")
        }
    }

    /// Interprets the verifier's objection to the server's certificate.
    private init(verdict: Int) {
        let failure: TLSError =
            switch Int32(clamping: verdict) {
            case X509_V_ERR_CERT_HAS_EXPIRED: .certificateExpired
            case X509_V_ERR_CERT_NOT_YET_VALID: .certificateNotYetValid
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongHost
            case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
            case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
                X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
                X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_SIGNATURE_FAILURE:
                .untrustedAuthority
            default: .certificateRejected
            }
        self.init(
            failure: failure,
            reason: "the server's certificate is refused: \(String(cString: X509_verify_cert_error_string(verdict)))")
    }
}
#endif
