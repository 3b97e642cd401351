import PusherChannels

/// Points in time at a distance from the origin, for tests, where every clock starts at its origin.
extension Instant {
    package static func seconds(_ seconds: Int) -> Instant { Instant(.seconds(seconds)) }
    package static func seconds(_ seconds: Double) -> Instant { Instant(.seconds(seconds)) }
    package static func milliseconds(_ milliseconds: Int) -> Instant { Instant(.milliseconds(milliseconds)) }
}
