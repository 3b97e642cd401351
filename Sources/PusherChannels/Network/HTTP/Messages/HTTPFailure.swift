import Foundation

/// The reason why a request has no response, and Foundation's code for it.
struct HTTPFailure: Error, Equatable, Sendable {
    let code: URLError.Code
    let failure: TransportError
    /// Indicates whether no connection got the request, which means that nobody can have carried it out.
    private(set) var isUnsent = false

    init(_ code: URLError.Code, _ failure: TransportError) {
        self.code = code
        self.failure = failure
    }

    /// Creates a failure with Foundation's code for its kind.
    init(_ failure: TransportError) {
        self.init(failure.kind.urlErrorCode, failure)
    }

    /// Creates the failure for a peer's response that can't be accepted.
    init(_ problem: ResponseReader.Problem, of peer: String) {
        let failure = TransportError(.protocolViolation, "\(peer) doesn't answer as it should: \(problem.description)")
        if case .tooLong = problem {
            self.init(.dataLengthExceedsMaximum, failure)
        } else {
            self.init(failure)
        }
    }

    /// The failure of a request that no connection got.
    var ofUnsentRequest: HTTPFailure {
        var failure = self
        failure.isUnsent = true
        return failure
    }

    /// The error for completion handlers. Foundation puts the request's address into its errors; it is left out here, because it
    /// may hold a token.
    var error: URLError {
        URLError(
            code,
            userInfo: [NSLocalizedDescriptionKey: failure.message, NSUnderlyingErrorKey: failure, Self.isUnsentKey: isUnsent])
    }

    fileprivate static let isUnsentKey = "PusherChannelsIsUnsent"
}

extension URLError {
    /// Indicates whether a ``NetworkHTTPSession`` says that no connection got the request. Other sessions can't tell.
    var isOfUnsentRequest: Bool { userInfo[HTTPFailure.isUnsentKey] as? Bool ?? false }
}

extension TransportError {
    /// Returns the failure behind an error of a ``NetworkHTTPSession``; `nil` for any other error.
    public init?(_ error: URLError) {
        guard let failure = error.userInfo[NSUnderlyingErrorKey] as? TransportError else { return nil }
        self = failure
    }
}

extension TransportError.Kind {
    fileprivate var urlErrorCode: URLError.Code {
        switch self {
        case .hostNotFound: .cannotFindHost
        case .connectionRefused, .unreachable, .proxyRefused: .cannotConnectToHost
        case .noAnswer: .timedOut
        case .tlsFailed(let failure): failure.urlErrorCode
        case .upgradeRefused, .protocolViolation: .badServerResponse
        case .connectionLost: .networkConnectionLost
        case .cancelled: .cancelled
        case .unsupported: .unsupportedURL
        }
    }
}

extension TLSError {
    fileprivate var urlErrorCode: URLError.Code {
        switch self {
        case .certificateExpired: .serverCertificateHasBadDate
        case .certificateNotYetValid: .serverCertificateNotYetValid
        case .untrustedAuthority, .selfSigned: .serverCertificateHasUnknownRoot
        case .wrongHost, .publicKeyNotPinned, .certificateRejected: .serverCertificateUntrusted
        case .clientCertificateRequired: .clientCertificateRequired
        case .clientCertificateRefused: .clientCertificateRejected
        case .unsupportedVersion, .notTLS, .handshakeFailed, .invalidConfiguration: .secureConnectionFailed
        }
    }
}
