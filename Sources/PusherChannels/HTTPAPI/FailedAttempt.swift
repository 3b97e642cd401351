import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A call that did not succeed, and what can be done about it.
struct FailedAttempt: Error {
    enum Remedy: Equatable {
        /// The next attempt would fail the same way.
        case none
        /// Nothing was carried out; a retry may succeed.
        case repetition
        /// The call may have been carried out.
        case repetitionIfHarmless
    }

    let error: PusherError
    let remedy: Remedy
}

extension FailedAttempt {
    /// Creates the failure of an unsuccessful response.
    init(_ response: HTTPURLResponse, body: Data, of call: HTTPAPICall) {
        let status = response.statusCode
        // Much more than is quoted, as addresses may be long.
        let words = String(decoding: body.prefix(10_000), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let quotation = words.isEmpty ? "" : ": \"\(words.asQuotation)\""
        let place = status / 100 == 3 ? response.value(forHTTPHeaderField: "Location") : nil
        let direction = place.map { ", which leads to \($0.addressWithoutSecrets.inLogLine())" } ?? ""
        self.init("\(direction)\(quotation)", in: response, meaning: status, of: call)
    }

    /// Creates the failure of a response whose status says success, and whose body a refusal.
    init(_ refusal: RefusalInBody, in response: HTTPURLResponse, of call: HTTPAPICall) {
        self.init(" and \(refusal)", in: response, meaning: refusal.status ?? response.statusCode, of: call)
    }

    private init(_ details: String, in response: HTTPURLResponse, meaning status: Int, of call: HTTPAPICall) {
        let failure = HTTPAPIFailure(status: status)
        let advice = failure.advice(for: call).map { "; \($0)" } ?? ""
        let message = "the HTTP API answered with status \(response.statusCode)\(details)\(advice)"
        error = PusherError(.httpAPI(failure), code: status, message: message, retryAfter: response.retryAfter)
        remedy =
            switch failure {
            case .rateLimited: .repetition
            case .serverError, .noResponse: .repetitionIfHarmless
            default: HTTPStatus.isTemporary(status) ? .repetition : .none
            }
    }

    /// Creates the failure of a response that came from elsewhere; nil if it came from where the request was sent. `URLSession`
    /// follows redirects, mostly with a GET in place of the POST, and the server that responds to the GET has done nothing.
    init?(_ response: HTTPURLResponse, followedFrom request: URLRequest, by call: HTTPAPICall) {
        func place(_ url: URL?) -> [String]? {
            // Decoded, as a session may write the same address in another way. Only this path has the slash at its end.
            url.map { url in
                let path = [url.path(percentEncoded: false), url.query(percentEncoded: false) ?? ""]
                return [url.scheme?.lowercased() ?? "", url.host?.lowercased() ?? "", "\(url.port ?? 0)"] + path
            }
        }
        guard let reached = place(response.url), let asked = place(request.url), reached != asked else { return nil }
        let warning = call.isRisky ? "; it may have been carried out" : ""
        error = PusherError(
            .httpAPI(call.isRisky ? .noResponse : .unexpectedStatus),
            message: "the HTTP API sent the request elsewhere, to \(reached[1].inLogLine()), and the session followed\(warning)",
            isRetryable: false)
        remedy = .none
    }

    /// Creates the failure of a call without a response.
    init(_ error: any Error, of call: HTTPAPICall) {
        let code = Self.code(of: error)
        let reason = text(of: error)
        if (error as? URLError)?.isOfUnsentRequest ?? false || code.map(Self.neverSent.contains) ?? false {
            // This package's own session knows more than the code says: it tells a proxy's refusal from a server that is down.
            let failure = (error as? URLError).flatMap { TransportError($0) }
            let mayBeOver = failure?.kind.isRetryable ?? code.map(Self.mayBeOverSoon.contains) ?? false
            self.error = PusherError(
                .httpAPI(.unreachable), message: "the HTTP API could not be asked: \(reason)", isRetryable: mayBeOver)
            remedy = mayBeOver ? .repetition : .none
        } else {
            let warning = call.isRisky ? "; the request may have been carried out" : ""
            // A response that is too long would be too long the next time, too.
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

    /// Codes that mean that no connection was made, and that a retry may succeed.
    private static let mayBeOverSoon: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet,
    ]

    /// These codes, and those of problems that come before a server reads a request and last until somebody changes something.
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
            case 408: .noResponse  // Gateways also send it while the server is still working on the complete request.
            case 413: .payloadTooLarge
            case 429: .rateLimited
            case 500..<600: .serverError
            default: .unexpectedStatus
            }
    }

    /// Returns advice on what can be done, if the server's words may not say it.
    fileprivate func advice(for call: HTTPAPICall) -> String? {
        switch self {
        case .unauthorized: "check the app's id, key and secret, and this machine's clock"
        case .forbidden: "the app may be disabled, or over its quota"
        case .notFound where call.path.hasBytes(of: "/events"): "check the app's id and the host"
        case .notFound: "check the app's id and the host; not every server has this call"
        case .payloadTooLarge: "send less, such as a reference to what clients can fetch"
        case .rateLimited: "make fewer requests"
        case .serverError where call.isRisky, .noResponse where call.isRisky:
            "it may have been carried out"
        default: nil
        }
    }
}
