import Foundation

/// The reason why a request has no response, and Foundation's code for it.
struct HTTPFailure: Error, Equatable, Sendable {
    let code: URLError.Code
    let failure: WebSocketFailure
    /// True if no connection got the request, so that nobody can have carried it out.
    private(set) var isUnsent = false

    init(_ code: URLError.Code, _ failure: WebSocketFailure) {
        self.code = code
        self.failure = failure
    }

    /// With the code that Foundation has for this kind.
    init(_ failure: WebSocketFailure) {
        self.init(failure.kind.urlErrorCode, failure)
    }

    /// Of the peer whose response can't be taken.
    init(_ problem: ResponseReader.Problem, of peer: String) {
        let failure = WebSocketFailure(.protocolViolation, "\(peer) doesn't answer as it should: \(problem.description)")
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

    /// The error that completion handlers get. Foundation puts the request's address into its errors; that may hold a token, so it isn't here.
    var error: URLError {
        URLError(
            code,
            userInfo: [NSLocalizedDescriptionKey: failure.message, NSUnderlyingErrorKey: failure, Self.isUnsentKey: isUnsent])
    }

    fileprivate static let isUnsentKey = "PusherChannelsIsUnsent"
}

extension URLError {
    /// True if a ``NetworkHTTPSession`` says that no connection got the request. Other sessions can't tell.
    var isOfUnsentRequest: Bool { userInfo[HTTPFailure.isUnsentKey] as? Bool ?? false }
}

extension WebSocketFailure {
    /// The failure behind an error that a ``NetworkHTTPSession`` gave; nil for any other error.
    public init?(_ error: URLError) {
        guard let failure = error.userInfo[NSUnderlyingErrorKey] as? WebSocketFailure else { return nil }
        self = failure
    }
}

extension WebSocketFailure.Kind {
    fileprivate var urlErrorCode: URLError.Code {
        switch self {
        case .hostNotFound: .cannotFindHost
        case .connectionRefused, .unreachable, .proxyRefused: .cannotConnectToHost
        case .timedOut: .timedOut
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
