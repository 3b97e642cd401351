/// The policy for retrying a lost connection.
///
/// The delay before attempt *n* is drawn uniformly from zero to `initialDelay × 2ⁿ⁻¹`, but never more than `maximumDelay`. This
/// exponential backoff with full jitter keeps clients that lost the same server from coming back in step. After close codes
/// 4100–4199 the delay is at least a second. Codes 4200–4299 ask the client to come back at once, which it does three times a
/// minute at most.
public struct ReconnectPolicy: Equatable, Sendable {
    /// The upper bound of the first delay. Negative values count as zero, more than a century as a century.
    public var initialDelay: Duration
    /// The upper bound of every delay; one second more after a server asked to wait (4100 to 4199). Negative values count as zero,
    /// more than a century as a century.
    public var maximumDelay: Duration
    /// The maximum number of consecutive retries after a failed first attempt or a lost connection, before the client gives up;
    /// nil for no limit, zero or less for no retries.
    public var maximumRetries: Int?
    /// The time a connection must last before the delays start from `initialDelay` again.
    public var stableAfter: Duration

    /// Indicates whether connections that fell silent also wait for a random delay: those of a hanging server fall silent
    /// together.
    var spreadsSilentOnes = false

    /// Creates a policy. The defaults suit a service.
    public init(
        initialDelay: Duration = .seconds(1),
        maximumDelay: Duration = .seconds(120),
        maximumRetries: Int? = nil,
        stableAfter: Duration = .seconds(30)
    ) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.maximumRetries = maximumRetries
        self.stableAfter = stableAfter
    }
}
