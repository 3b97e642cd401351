/// An error of the client, with what can be done about it.
public struct PusherError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sort of error, for code that decides by it.
    public enum Kind: Equatable, Sendable {
        /// The server said so, in a `pusher:error` or by closing; ``PusherError/code`` has its code, if it
        /// gave one: 4000–4399 are Channels' own, 1000–1015 the WebSocket protocol's.
        case server
        /// The socket could not be opened or was lost; the SDK tries again by itself where that makes sense.
        case transport(WebSocketFailure.Kind)
        /// The server didn't do its part within the time for it.
        case timedOut
        /// A frame could not be understood; the connection goes on.
        case malformedMessage
        /// The authorization endpoint, `Authorizer` or handler gave no usable answer for a channel.
        case authorization
        /// The server refused a subscription.
        case subscriptionRefused
        /// The caller asked for something the protocol does not allow.
        case invalidRequest
        /// A stream's elements were not read in time; see ``StreamBuffering``.
        case readerTooSlow
        /// More client events were sent within a second than servers allow.
        case rateLimited
        /// The HTTP API could not be asked or did not do what was asked; the code is the HTTP status, where there is one.
        case httpAPI(HTTPAPIFailure)
        /// As many connection attempts failed as the reconnect policy allows.
        case attemptsExhausted
    }

    /// The sort of error.
    public let kind: Kind

    /// The Channels error or close code, or the HTTP status of an authorization, if there is one.
    public let code: Int?

    /// The description of what happened and what to do, for a person. Never holds a secret.
    ///
    /// A server may have had its say in it: it is one line of at most 1,000 characters, with control characters escaped, so that it
    /// can be written to a log or a terminal; of addresses the password and the query are left out.
    public let message: String

    /// The time after which to ask again, where the other side named one: an authorization endpoint or the HTTP API in `Retry-After`, in
    /// seconds.
    public let retryAfter: Duration?

    /// Indicates whether asking again may help with nothing changed: not where a person has to mend something first, such as a key, a
    /// name, a certificate or a refused user.
    ///
    /// The client goes by it for channels and for users' authorizations, and makes lost connections again by itself. A publish that is made
    /// again after a lost response may be published twice: ``HTTPAPIFailure/mayHaveBeenCarriedOut``.
    public let isRetryable: Bool

    /// Creates an error.
    ///
    /// The SDK makes its own. Applications make them in tests, and where they authorize with code of their own
    /// (``AuthMethod/customHandler(_:)``): there the code is an HTTP status, and decides, like an endpoint's, whether to ask again.
    ///
    /// - Parameters:
    ///   - kind: The sort of error.
    ///   - code: The code, by the kind a close code or an HTTP status.
    ///   - message: A sentence that says what happened and what to do.
    ///   - retryAfter: The time after which to ask again; what is negative counts as zero, more than a century as a century.
    ///   - isRetryable: True if asking again may help; nil to go by the kind and the code.
    public init(_ kind: Kind, code: Int? = nil, message: String, retryAfter: Duration? = nil, isRetryable: Bool? = nil) {
        self.kind = kind
        self.code = code
        self.message = message.asMessage
        self.retryAfter = retryAfter?.asWait
        self.isRetryable = isRetryable ?? kind.isRetryable(code)
    }

    /// The message, with the code where there is one.
    public var description: String {
        code.map { "\(message) (code \($0))" } ?? message
    }
}
