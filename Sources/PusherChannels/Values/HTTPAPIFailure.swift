/// The reason why a request to the HTTP API failed; the ``PusherError`` of this kind has the details.
///
/// A refusal that comes with a success status, as all of soketi's do, counts as the status that its body names as `code`.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum HTTPAPIFailure: Equatable, Sendable {
    /// The server was not reached, or no connection to it was free in time. Nothing was carried out.
    case unreachable
    /// The request was sent, at least in part, and no response came, or one with status 408, which gateways send for the same
    /// reason. The request may have been carried out.
    case noResponse
    /// Status 400: the server doesn't accept the request.
    case badRequest
    /// Status 401: the signature is invalid because of its app's id, its key, its secret or its time.
    case unauthorized
    /// Status 403: the app is disabled or over its quota.
    case forbidden
    /// Status 404: the server doesn't know the app or the call.
    case notFound
    /// Status 413: the event has more data than the server accepts.
    case payloadTooLarge
    /// Status 429: there were too many requests.
    case rateLimited
    /// A status from 500 to 599. The request may still have been carried out: a gateway may send such a status although the
    /// server succeeded.
    case serverError
    /// Any other unsuccessful status, such as a redirect, which isn't followed; or a refusal that names none.
    case unexpectedStatus
    /// The status says success, but the response isn't a reply to this call: it may come from a proxy. The request may have been
    /// carried out.
    case unreadableResponse

    /// Indicates whether the request may have been carried out. Repeating a publish may then publish it twice. It doesn't tell of
    /// a part: Sockudo publishes a batch's events up to the one that it refuses, see ``PusherHTTPAPI/triggerBatch(_:)``.
    public var mayHaveBeenCarriedOut: Bool {
        switch self {
        case .noResponse, .serverError, .unreadableResponse: true
        case .unreachable, .badRequest, .unauthorized, .forbidden, .notFound, .payloadTooLarge, .rateLimited, .unexpectedStatus:
            false
        }
    }
}
