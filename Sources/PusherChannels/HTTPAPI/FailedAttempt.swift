import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A call that was not answered with success, and what may be done about it.
struct FailedAttempt: Error {
    enum Remedy: Equatable {
        /// The next attempt would fail the same way.
        case none
        /// Nothing was carried out, and it may be next time.
        case repetition
        /// It may have been carried out.
        case repetitionIfHarmless
    }

    let error: PusherError
    let remedy: Remedy
}

extension FailedAttempt {
    /// A response that is no success.
    init(_ response: HTTPURLResponse, body: Data, of call: HTTPAPICall) {
        let status = response.statusCode
        let failure = HTTPAPIFailure(status: status)
        let words = String(decoding: body.prefix(1000), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let quotation = words.isEmpty ? "" : ": \"\(words.inLogLine())\""
        let advice = failure.advice(for: call).map { "; \($0)" } ?? ""
        let message = "the HTTP API answered with status \(status)\(quotation)\(advice)"
        error = PusherError(.httpAPI(failure), code: status, message: message, retryAfter: response.retryAfter)
        remedy =
            switch failure {
            case .rateLimited: .repetition
            case .serverError, .noResponse: .repetitionIfHarmless
            default: HTTPStatus.isTemporary(status) ? .repetition : .none
            }
    }

    /// A response from elsewhere; nil for one from where the request was sent. `URLSession` follows redirects, most of them by a GET in place
    /// of the POST: what answers that has done nothing.
    init?(_ response: HTTPURLResponse, followedFrom request: URLRequest, by call: HTTPAPICall) {
        func place(_ url: URL?) -> [String]? {
            url.map { [$0.scheme?.lowercased() ?? "", $0.host?.lowercased() ?? "", "\($0.port ?? 0)", $0.path] }
        }
        guard let reached = place(response.url), let asked = place(request.url), reached != asked else { return nil }
        let warning = call.repetition == .again ? "; it may have been carried out" : ""
        error = PusherError(
            .httpAPI(.unexpectedStatus),
            message: "the HTTP API sent the request elsewhere, to \(reached[1].inLogLine()), and the session followed\(warning)")
        remedy = .none
    }

    /// No response.
    init(_ error: any Error, of call: HTTPAPICall) {
        let code = Self.code(of: error)
        let reason = text(of: error)
        if (error as? URLError)?.isOfUnsentRequest ?? false || code.map(Self.neverSent.contains) ?? false {
            // This package's own session knows more than a code says: a proxy's refusal from a server that is down.
            let failure = (error as? URLError).flatMap { WebSocketFailure($0) }
            let mayBeOver = failure?.kind.isRetryable ?? code.map(Self.mayBeOverSoon.contains) ?? false
            self.error = PusherError(
                .httpAPI(.unreachable), message: "the HTTP API could not be asked: \(reason)", isRetryable: mayBeOver)
            remedy = mayBeOver ? .repetition : .none
        } else {
            let warning = call.repetition == .again ? "; the request may have been carried out" : ""
            // A response that is too long would be the next time, too.
            let mayBeOver = code != .dataLengthExceedsMaximum
            self.error = PusherError(
                .httpAPI(.noResponse), message: "the HTTP API gave no response: \(reason)\(warning)", isRetryable: mayBeOver)
            remedy = mayBeOver ? .repetitionIfHarmless : .none
        }
    }

    private static func code(of error: any Error) -> URLError.Code? {
        if let error = error as? URLError { return error.code }
        let error = error as NSError
        return error.domain.hasBytes(of: NSURLErrorDomain) ? URLError.Code(rawValue: error.code) : nil
    }

    /// Codes after which no connection was made, and one may be next time.
    private static let mayBeOverSoon: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet,
    ]

    /// And what goes wrong before a server reads a request, now and for as long as nobody changes something.
    private static let neverSent = mayBeOverSoon.union([
        .badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection, .secureConnectionFailed,
        .serverCertificateHasBadDate, .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot,
        .serverCertificateUntrusted,
        .clientCertificateRequired, .clientCertificateRejected,
    ])
}

extension HTTPAPIFailure {
    fileprivate init(status: Int) {
        self =
            switch status {
            case 400: .badRequest
            case 401: .unauthorized
            case 403: .forbidden
            case 404: .notFound
            case 408: .noResponse  // Of gateways, also where the server has the whole request and is still at it.
            case 413: .payloadTooLarge
            case 429: .rateLimited
            case 500..<600: .serverError
            default: .unexpectedStatus
            }
    }

    /// The advice for what can be done, where the server's words may not say it.
    fileprivate func advice(for call: HTTPAPICall) -> String? {
        switch self {
        case .unauthorized: "check the app's key and secret, and this machine's clock"
        case .forbidden: "the app may be disabled, or over its quota"
        case .notFound: "check the app's id and the host"
        case .rateLimited: "make fewer requests"
        case .serverError where call.repetition == .again, .noResponse where call.repetition == .again:
            "it may have been carried out"
        default: nil
        }
    }
}
