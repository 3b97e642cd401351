/// The attempts that a request to the HTTP API has, and the delays between them.
///
/// The delay before attempt *n* + 1 is drawn evenly from zero to `initialDelay × 2ⁿ⁻¹`, never more than `maximumDelay`: exponential
/// backoff with full jitter. It is no less than the server's `Retry-After`; where that is more than `maximumDelay`, no other attempt is
/// made, and the error has it as ``PusherError/retryAfter``.
public struct RetryPolicy: Equatable, Sendable {
    /// The requests that may reach the server more than once.
    public enum Guarantee: Equatable, Sendable {
        /// Queries alone. A publish is made again only where nothing of it was carried out: the server was not reached, or answered
        /// with status 425 or 429.
        case atMostOnce
        /// All: a publish whose response was lost, or is status 408 or one from 500 to 599, is made again and may be delivered twice.
        case atLeastOnce
    }

    /// The number of attempts in all; one at least.
    public var maximumAttempts: Int
    /// The upper bound of the first delay. Negative values count as zero, more than a century as a century.
    public var initialDelay: Duration
    /// The upper bound of every delay. Negative values count as zero, more than a century as a century.
    public var maximumDelay: Duration
    /// The requests that may reach the server more than once.
    public var publishing: Guarantee

    /// Creates a policy; what is left out never publishes twice and gives up after a few seconds.
    public init(
        maximumAttempts: Int = 3, initialDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(5),
        publishing: Guarantee = .atMostOnce
    ) {
        self.maximumAttempts = maximumAttempts
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.publishing = publishing
    }

    /// One attempt for everything.
    public static let none = RetryPolicy(maximumAttempts: 1)
}
