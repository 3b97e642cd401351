/// An error of the client, and what can be done about it.
public struct PusherError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of error, for code that handles kinds differently.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Kind: Equatable, Sendable {
        /// The server reported it, in a `pusher:error` or by closing the connection. ``PusherError/code`` has the server's code,
        /// if it gave one: 4000–4399 are Channels' own, 1000–1015 the WebSocket protocol's.
        case server
        /// The socket could not be opened or was lost; the SDK retries by itself if that makes sense.
        case transport(TransportError.Kind)
        /// The server didn't do its part in time.
        case timedOut
        /// A frame could not be understood; the connection continues.
        case malformedMessage
        /// The authorization endpoint, `Authorizer` or handler gave no usable response.
        case authorization
        /// The server refused a subscription.
        case subscriptionRefused
        /// The caller requested something that the protocol doesn't allow.
        case invalidRequest
        /// A stream's elements were not read in time; see ``StreamBuffering``.
        case readerTooSlow
        /// A followed channel's state is loaded again later than it could be, because it was loaded less than a minute ago.
        case loadPostponed
        /// More client events were sent within a second than servers allow.
        case tooManyClientEvents
        /// The HTTP API could not be reached or did not carry out the request; the code is the HTTP status, if there is one.
        case httpAPI(HTTPAPIFailure)
        /// As many connection attempts failed as the reconnect policy allows.
        case attemptsExhausted
    }

    /// The kind of error.
    public let kind: Kind

    /// The Channels error or close code, or the HTTP status of an authorization, a refused subscription or a request to the HTTP
    /// API, if there is one.
    public let code: Int?

    /// A description of what happened and what to do, for a person. It never contains a secret.
    ///
    /// The message may quote a server. It is therefore one line, the first 1,000 characters of the text, with control characters
    /// escaped, which is safe to write to a log or a terminal. The passwords and queries of addresses are left out.
    public let message: String

    /// The number of bytes that it keeps while it waits.
    var size: Int { message.utf8.count }

    /// The time to wait before a retry, if the other side gave one: an authorization endpoint or the HTTP API in `Retry-After`,
    /// in seconds.
    public let retryAfter: Duration?

    /// Indicates whether a retry may help although nothing has changed. False if a person has to fix something first, such as a
    /// key, a name, a certificate or a refused user.
    ///
    /// The client follows this for channels and for users' authorizations, and retries lost connections by itself. Repeating a
    /// publish after a lost response may publish it twice: see ``HTTPAPIFailure/mayHaveBeenCarriedOut``.
    public let isRetryable: Bool

    /// Creates an error.
    ///
    /// The SDK creates its own errors. Applications create them in tests, and in their own authorization code
    /// (``AuthMethod/customHandler(_:)``). There the code is an HTTP status and, as with an endpoint's status, decides whether to
    /// retry.
    ///
    /// - Parameters:
    ///   - kind: The kind of error.
    ///   - code: The code: a close code or an HTTP status, depending on the kind.
    ///   - message: A sentence that says what happened and what to do.
    ///   - retryAfter: The time to wait before a retry; negative values count as zero, more than a century as a century.
    ///   - isRetryable: True if a retry may help; nil to decide by the kind and the code.
    public init(_ kind: Kind, code: Int? = nil, message: String, retryAfter: Duration? = nil, isRetryable: Bool? = nil) {
        self.kind = kind
        self.code = code
        self.message = message.asMessage
        self.retryAfter = retryAfter?.asWait
        self.isRetryable = isRetryable ?? kind.isRetryable(code)
    }

    /// Returns whether another error has the same reason, whenever it may be retried.
    func hasSameReason(as other: PusherError) -> Bool {
        (kind, code, message, isRetryable) == (other.kind, other.code, other.message, other.isRetryable)
    }

    /// The message, with the code if there is one.
    public var description: String {
        code.map { "\(message) (code \($0))" } ?? message
    }
}
