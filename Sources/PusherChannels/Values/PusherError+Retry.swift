extension PusherError.Kind {
    /// Returns whether a retry may help after an error of this kind, as far as its code tells.
    func isRetryable(_ code: Int?) -> Bool {
        switch self {
        case .server: code.map { (1000..<1016).contains($0) || CloseCode.asksBack.contains($0) } ?? false
        case .transport(let failure): failure.isRetryable
        case .authorization: code.map(HTTPStatus.isTemporary) ?? true  // The reason may be anything.
        case .subscriptionRefused: code.map { HTTPStatus.isTemporary($0) || (4100..<4300).contains($0) } ?? false
        case .httpAPI(let failure): failure.isRetryable || code.map(HTTPStatus.isTemporary) ?? false
        case .timedOut, .readerTooSlow, .loadPostponed, .tooManyClientEvents, .attemptsExhausted: true
        case .malformedMessage, .invalidRequest: false
        }
    }
}

extension TransportError.Kind {
    var isRetryable: Bool {
        switch self {
        case .hostNotFound, .connectionRefused, .unreachable, .noAnswer, .protocolViolation, .connectionLost: true
        case .tlsFailed(let error): error == .handshakeFailed
        case .proxyRefused(let status), .upgradeRefused(let status): HTTPStatus.isTemporary(status)
        case .cancelled, .unsupported: false
        }
    }
}

extension HTTPAPIFailure {
    fileprivate var isRetryable: Bool {
        switch self {
        case .unreachable, .noResponse, .rateLimited, .serverError: true
        case .badRequest, .unauthorized, .forbidden, .notFound, .payloadTooLarge, .unexpectedStatus, .unreadableResponse: false
        }
    }
}

enum HTTPStatus {
    /// Returns whether a status means that the server was busy or broken, rather than that it refused.
    static func isTemporary(_ status: Int) -> Bool {
        (500..<600).contains(status) || [408, 425, 429].contains(status)
    }
}
