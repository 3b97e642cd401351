import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Which failures of an authorization may be over when it is asked for again: one rule for endpoints and for the application's code.
enum AuthRetry {
    /// Networks come back, and certificates are renewed; a request that can't be made, or has a huge answer, stays what it is. An
    /// error of unknown sort may be over next time.
    static func mayHelp(after error: any Error) -> Bool {
        if let error = error as? PusherError { return error.isRetryable }
        // This package's own session knows more than a code says.
        if let error = error as? URLError, case .proxyRefused(let status)? = WebSocketFailure(error)?.kind {
            return HTTPStatus.isTemporary(status)
        }
        return switch (error as? URLError)?.code {
        case .badURL, .unsupportedURL, .requestBodyStreamExhausted, .dataLengthExceedsMaximum: false
        default: true
        }
    }
}
