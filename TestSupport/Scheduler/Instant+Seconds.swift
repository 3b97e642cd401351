import PusherChannels

/// For tests, where every clock begins at its origin: the points so long after it.
extension Instant {
    package static func seconds(_ seconds: Int) -> Instant { Instant(.seconds(seconds)) }
    package static func seconds(_ seconds: Double) -> Instant { Instant(.seconds(seconds)) }
    package static func milliseconds(_ milliseconds: Int) -> Instant { Instant(.milliseconds(milliseconds)) }
}
