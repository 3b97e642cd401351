import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides which failures of an authorization to retry: one rule for endpoints and for the application's code.
enum AuthRetry {
    /// Returns whether a retry may help. Networks come back, and certificates are renewed; a request that can't be made, or whose
    /// response is too large, fails again. An unknown error may be gone next time.
    static func mayHelp(after error: any Error) -> Bool {
        if let error = error as? PusherError { return error.isRetryable }
        // This package's own session knows more than the code says.
        if let error = error as? URLError, case .proxyRefused(let status)? = TransportError(error)?.kind {
            return HTTPStatus.isTemporary(status)
        }
        return switch (error as? URLError)?.code {
        case .badURL, .unsupportedURL, .requestBodyStreamExhausted, .dataLengthExceedsMaximum: false
        default: true
        }
    }
}
