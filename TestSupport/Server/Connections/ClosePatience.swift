import PusherChannels

/// The time that a client has for the end of its connection. A client that goes on reading has longer for what still waits to be
/// sent: ten times as long, and at least ten seconds.
struct ClosePatience {
    private let time: Duration
    private let latest: Instant
    /// The time at which to look again.
    private(set) var check: Instant
    /// Indicates whether the client has read something since the last look.
    var isReading = false

    init(_ time: Duration, from now: Instant) {
        self.time = time
        check = now + time
        latest = now + max(time * 10, .seconds(10))
    }

    /// Returns whether the time is over.
    /// - Parameter isSaid: Indicates whether there is nothing left for the client to read.
    mutating func isOver(at now: Instant, isSaid: Bool) -> Bool {
        guard now >= check else { return false }
        guard isReading, !isSaid, now < latest else { return true }
        isReading = false
        check = now + max(time, .milliseconds(10))
        return false
    }
}
