/// When a lost connection is tried again.
///
/// The delay before attempt *n* is drawn evenly from zero to `initialDelay × 2ⁿ⁻¹`, never more than `maximumDelay`: exponential
/// backoff with full jitter, so that clients which lost the same server don't come back in step. Close codes 4100–4199 wait a
/// second at least; 4200–4299 ask to come back at once, and are believed three times a minute.
public struct ReconnectPolicy: Equatable, Sendable {
    /// The upper bound of the first delay. Negative values count as zero, more than a century as a century.
    public var initialDelay: Duration
    /// The upper bound of every delay. Negative values count as zero, more than a century as a century.
    public var maximumDelay: Duration
    /// The largest number of retries in a row, after a first attempt that failed or a connection that was lost, before the connection is
    /// given up; nil for no limit, zero or less for none.
    public var maximumRetries: Int?
    /// The time a connection must have lasted for the delays to start from `initialDelay` again.
    public var stableAfter: Duration

    /// Indicates whether even connections that fell silent come back by turns: those of a server that hangs do so together.
    var spreadsSilentOnes = false

    /// Creates a policy; what is left out has the value a service wants.
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
