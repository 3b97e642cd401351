#if canImport(CLibwebsockets)
import CLibwebsockets

/// Finds out why TLS handshakes fail: libwebsockets 4.1 throws OpenSSL's errors away before it reports the failure.
enum TLSDiagnosis {
    /// Has OpenSSL tell when a handshake stops, with the error still at hand.
    ///
    /// libwebsockets' own way to do so crashes in 4.1: it takes other data of the TLS context for its own context.
    static func watch(_ tlsContext: OpaquePointer, for service: LibwebsocketsService) {
        // Index 0 is the application's.
        SSL_CTX_set_ex_data(tlsContext, 0, Unmanaged.passUnretained(service).toOpaque())
        SSL_CTX_set_info_callback(tlsContext) { tls, event, _ in
            guard event & SSL_CB_EXIT != 0, let error = TLSDiagnosis.pendingError,
                let pointer = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(tls), 0)
            else { return }
            let service = Unmanaged<LibwebsocketsService>.fromOpaque(pointer).takeUnretainedValue()
            service.tlsReason = service.tlsReason ?? error
        }
    }

    /// What the verifier has against a certificate.
    static func verificationError(_ verifier: OpaquePointer) -> String {
        let reason = String(cString: X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(verifier))))
        return "the certificate is not trusted: \(reason)"
    }

    private static var pendingError: String? {
        let code = ERR_peek_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return nil }
        return String(cString: reason)
    }
}
#endif
