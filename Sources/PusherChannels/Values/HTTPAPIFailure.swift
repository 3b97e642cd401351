/// The reason why the HTTP API didn't do what was asked; the rest is in the ``PusherError`` that has it as its kind.
public enum HTTPAPIFailure: Equatable, Sendable {
    /// The server was not reached, or no connection to it was free in time. Nothing was carried out.
    case unreachable
    /// The request was sent, or part of it, and no response came, or status 408, with which gateways say the same: it may have been
    /// carried out.
    case noResponse
    /// Status 400: the server doesn't take the request as it is.
    case badRequest
    /// Status 401: the signature is not good, by its key, its secret or its time.
    case unauthorized
    /// Status 403: the app is disabled or over its quota.
    case forbidden
    /// Status 404: the server knows no such app, or has no such call.
    case notFound
    /// Status 413: the event has more data than the server takes.
    case payloadTooLarge
    /// Status 429: there were too many requests.
    case rateLimited
    /// A status from 500 to 599. The request may have been carried out all the same: a gateway may say so of a server that did.
    case serverError
    /// Any other status that is no success, such as a redirect, which isn't followed.
    case unexpectedStatus
    /// The request succeeded, and its response is not what the call answers with.
    case unreadableResponse

    /// Indicates whether the request may have done its work: to repeat a publish then may publish it twice.
    public var mayHaveBeenCarriedOut: Bool {
        switch self {
        case .noResponse, .serverError, .unreadableResponse: true
        case .unreachable, .badRequest, .unauthorized, .forbidden, .notFound, .payloadTooLarge, .rateLimited, .unexpectedStatus:
            false
        }
    }
}
