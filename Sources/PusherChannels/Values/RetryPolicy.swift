/// The number of attempts for a request to the HTTP API, and the delays between them.
///
/// The delay before attempt *n* + 1 is drawn uniformly from zero to `initialDelay × 2ⁿ⁻¹`, but never more than `maximumDelay`:
/// exponential backoff with full jitter. It is no less than the server's `Retry-After`. If that is more than `maximumDelay`, no
/// other attempt is made, and the error has it as ``PusherError/retryAfter``.
public struct RetryPolicy: Equatable, Sendable {
    /// The requests that may reach the server more than once.
    public enum Guarantee: Equatable, Sendable {
        /// Queries, `delete` and ending a user's connections, of which a repeat also ends those that were made since. A publish is
        /// repeated only if nothing of it was carried out: the server was not reached, or responded with status 425 or 429.
        case atMostOnce
        /// All requests. A publish whose response was lost, or is status 408 or one from 500 to 599, is repeated and may be
        /// delivered twice.
        case atLeastOnce
        /// All requests, as with `atLeastOnce`, but each publish has a key by which the server knows it again, so it is delivered
        /// once. This states that the server is one that does: Sockudo. Others ignore the key, and may deliver twice.
        ///
        /// Each publish without a key of its own gets one. Sockudo keeps a key for five minutes by default; of one whose publish it
        /// failed to carry out it says for two minutes that it is under way (status 503). `post` has no key and is repeated as with
        /// `atMostOnce`.
        case idempotent
    }

    /// The total number of attempts; at least one.
    public var maximumAttempts: Int
    /// The upper bound of the first delay. Negative values count as zero, more than a century as a century.
    public var initialDelay: Duration
    /// The upper bound of every delay. Negative values count as zero, more than a century as a century.
    public var maximumDelay: Duration
    /// The requests that may reach the server more than once.
    public var publishing: Guarantee

    /// Creates a policy. The default policy never publishes twice, and gives up after three attempts.
    public init(
        maximumAttempts: Int = 3, initialDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(5),
        publishing: Guarantee = .atMostOnce
    ) {
        self.maximumAttempts = maximumAttempts
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.publishing = publishing
    }

    /// One attempt for every request.
    public static let none = RetryPolicy(maximumAttempts: 1)
}
