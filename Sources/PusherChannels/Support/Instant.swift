/// A point on the monotonic clock of a ``Scheduler``.
///
/// It is told by how long after the clock's origin it is. Where the origin lies is up to the clock, so only instants of one clock
/// can be compared. An instant is no `Duration`: two of them differ by one, and one added to an instant gives another.
///
/// Instants reach 84 billion years to both sides of the origin. Times farther away lie at the edge instead, so no
/// duration is too long to be added.
public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The point from which the clock counts.
    public static var origin: Instant { Instant(.zero) }

    /// The time since the origin; negative before it.
    public let sinceOrigin: Duration

    /// Creates the point so long after the origin, as a scheduler tells its time.
    public init(_ sinceOrigin: Duration) {
        self.sinceOrigin = Self.reaches(sinceOrigin) ? sinceOrigin : Self.edge(toward: sinceOrigin)
    }

    /// The point so much later.
    public func advanced(by duration: Duration) -> Instant {
        Instant(Self.canAdd(duration) ? sinceOrigin + duration : duration)
    }

    /// Returns the time from this point to the other; negative when it is earlier.
    public func duration(to other: Instant) -> Duration { other.sinceOrigin - sinceOrigin }

    /// `12.5 seconds`, counted from the origin.
    public var description: String { sinceOrigin.description }

    /// Returns whether the left point is the earlier one.
    public static func < (left: Instant, right: Instant) -> Bool { left.sinceOrigin < right.sinceOrigin }

    /// The point so much later.
    public static func + (instant: Instant, duration: Duration) -> Instant { instant.advanced(by: duration) }

    /// The point so much earlier.
    public static func - (instant: Instant, duration: Duration) -> Instant {
        canAdd(duration) ? Instant(instant.sinceOrigin - duration) : Instant(duration < .zero ? latest : earliest)
    }

    /// Returns the time from the right point to the left one.
    public static func - (left: Instant, right: Instant) -> Duration { right.duration(to: left) }

    /// Moves the point to so much later.
    public static func += (instant: inout Instant, duration: Duration) { instant = instant + duration }

    /// Moves the point to so much earlier.
    public static func -= (instant: inout Instant, duration: Duration) { instant = instant - duration }
}

/// The range of instants. It is told by durations' upper words, which are at hand; to compare durations takes calls.
extension Instant {
    /// Not as far as durations do: what two instants differ by has to have `components`, too.
    private static let reach: Int64 = 1 << 57
    private static var latest: Duration { Duration(_high: reach - 1, low: .max) }
    private static var earliest: Duration { Duration(_high: -reach, low: 0) }

    private static func reaches(_ sinceOrigin: Duration) -> Bool { -reach..<reach ~= sinceOrigin._high }

    private static func edge(toward sinceOrigin: Duration) -> Duration { sinceOrigin._high < 0 ? earliest : latest }

    /// Returns whether a sum with any instant can't overflow; what is too long for that leads to the edge.
    private static func canAdd(_ duration: Duration) -> Bool { -(1 << 62)..<(1 << 62) ~= duration._high }
}

extension Duration {
    /// A time that somebody may wait: what is negative is none, and a century is as good as for ever. It can be doubled thirty times.
    var asWait: Duration { min(max(self, .zero), .seconds(3_155_760_000)) }
}

extension Duration {
    /// Seconds as applications give them: nil, what is no number and anything above a day become a day, what is negative becomes zero.
    init(unlimited seconds: Double?) {
        let day = 86_400.0
        self = .seconds(min(max(seconds.flatMap { $0.isNaN ? nil : $0 } ?? day, 0), day))
    }
}
