/// A point on the monotonic clock of a ``Scheduler``.
///
/// It is given as the time since the clock's origin. Each clock chooses its own origin, so only instants of the same clock can be
/// compared. An instant isn't a `Duration`: two instants differ by one, and adding one to an instant gives another instant.
///
/// Instants reach 84 billion years before and after the origin. Times farther away become the earliest or latest instant, so no
/// duration is too long to be added.
public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The point from which the clock counts.
    public static var origin: Instant { Instant(.zero) }

    /// The time since the origin; negative before it.
    public let sinceOrigin: Duration

    /// Creates the point this long after the origin, as a scheduler gives its time.
    public init(_ sinceOrigin: Duration) {
        self.sinceOrigin = Self.reaches(sinceOrigin) ? sinceOrigin : Self.edge(toward: sinceOrigin)
    }

    /// Returns the point that is later by a duration.
    public func advanced(by duration: Duration) -> Instant {
        Instant(Self.canAdd(duration) ? sinceOrigin + duration : duration)
    }

    /// Returns the time from this point to the other; negative when it is earlier.
    public func duration(to other: Instant) -> Duration { other.sinceOrigin - sinceOrigin }

    /// The time since the origin, such as `12.5 seconds`.
    public var description: String { sinceOrigin.description }

    /// Returns whether the left point is the earlier one.
    public static func < (left: Instant, right: Instant) -> Bool { left.sinceOrigin < right.sinceOrigin }

    /// Returns the point that is later by a duration.
    public static func + (instant: Instant, duration: Duration) -> Instant { instant.advanced(by: duration) }

    /// Returns the point that is earlier by a duration.
    public static func - (instant: Instant, duration: Duration) -> Instant {
        canAdd(duration) ? Instant(instant.sinceOrigin - duration) : Instant(duration < .zero ? latest : earliest)
    }

    /// Returns the time from the right point to the left one.
    public static func - (left: Instant, right: Instant) -> Duration { right.duration(to: left) }

    /// Moves the point later by a duration.
    public static func += (instant: inout Instant, duration: Duration) { instant = instant + duration }

    /// Moves the point earlier by a duration.
    public static func -= (instant: inout Instant, duration: Duration) { instant = instant - duration }
}

/// The range of instants. It is checked by the upper words of durations, which are at hand; comparing durations takes calls.
extension Instant {
    /// The limit of instants, which is less than that of durations: the difference of two instants must have `components`, too.
    private static let reach: Int64 = 1 << 57
    private static var latest: Duration { Duration(_high: reach - 1, low: .max) }
    private static var earliest: Duration { Duration(_high: -reach, low: 0) }

    private static func reaches(_ sinceOrigin: Duration) -> Bool { -reach..<reach ~= sinceOrigin._high }

    private static func edge(toward sinceOrigin: Duration) -> Duration { sinceOrigin._high < 0 ? earliest : latest }

    /// Returns whether a sum with any instant can't overflow. A duration that is too long for that leads to the edge.
    private static func canAdd(_ duration: Duration) -> Bool { -(1 << 62)..<(1 << 62) ~= duration._high }
}

extension Duration {
    /// The duration as a time to wait: at least zero, and at most a century, which is as good as forever. It can be doubled
    /// thirty times.
    // not a mutant: any time beyond a life would do
    var asWait: Duration { min(max(self, .zero), .seconds(3_155_760_000)) }

    /// The duration in seconds with three decimal places, such as `1.350s`; zero if it is negative.
    var inSeconds: String {
        let (seconds, attoseconds) = max(self, .zero).components
        return "\(seconds).\(String(attoseconds / 1_000_000_000_000_000 + 1000).dropFirst())s"
    }
}

extension Duration {
    /// Creates a duration from seconds as applications give them: nil, NaN, and anything above a day become a day; anything
    /// negative becomes zero.
    init(unlimited seconds: Double?) {
        let day = 86_400.0
        self = .seconds(min(max(seconds.flatMap { $0.isNaN ? nil : $0 } ?? day, 0), day))
    }
}
