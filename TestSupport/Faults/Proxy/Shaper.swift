import PusherChannels

/// Decides how many of the waiting bytes may pass now, and when to ask again, by bandwidth and dribble.
struct Shaper {
    enum Allowance: Equatable {
        case pass(Int)
        case wait(until: Instant)
    }

    struct Dribble: Equatable {
        let bytes: Int
        let pause: Duration

        init(bytes: Int, pause: Duration) {
            self.bytes = max(1, bytes)
            self.pause = max(.zero, pause)
        }
    }

    /// The bandwidth in bytes per second, at least 1.
    var bandwidth: Int? {
        didSet { bandwidth = bandwidth.map(Self.possible) }
    }
    var dribble: Dribble?

    /// The time up to which the bandwidth is used up.
    private var paidUntil: Instant?
    private var passedOfPiece = 0
    private var pieceStarts: Instant?

    /// Returns the nearest bandwidth that can be calculated with.
    static func possible(_ bandwidth: Int) -> Int { min(max(1, bandwidth), 100_000_000_000) }

    /// Returns the number of waiting bytes that may pass, at least one, or the time at which to ask again.
    mutating func allowance(of waiting: Int, at now: Instant) -> Allowance {
        var bytes = waiting
        if let dribble {
            if let pieceStarts, now < pieceStarts { return .wait(until: pieceStarts) }
            bytes = min(bytes, dribble.bytes - min(passedOfPiece, dribble.bytes - 1))
        }
        if let bandwidth {
            // A hundredth of a second's worth passes at a time. Bandwidth that an idle connection didn't use isn't saved up.
            let portion = max(1, bandwidth / 100)
            let start = max(paidUntil ?? now, now - cost(of: 2 * portion, bandwidth))
            paidUntil = start
            let earned = Int(max(.zero, now - start) / .nanoseconds(1)) * bandwidth / 1_000_000_000
            let wanted = min(bytes, portion)
            guard earned >= wanted else { return .wait(until: start + cost(of: wanted, bandwidth)) }
            bytes = min(bytes, earned)
        }
        return .pass(bytes)
    }

    /// Records that bytes have passed.
    mutating func passed(_ bytes: Int, at now: Instant) {
        if let bandwidth { paidUntil = (paidUntil ?? now) + cost(of: bytes, bandwidth) }
        if let dribble {
            passedOfPiece += bytes
            if passedOfPiece >= dribble.bytes {
                passedOfPiece = 0
                pieceStarts = now + dribble.pause
            }
        }
    }

    private func cost(of bytes: Int, _ bandwidth: Int) -> Duration { Self.time(for: bytes, at: bandwidth) }

    /// Returns the time that a number of bytes takes, rounded up so that they have been earned by then.
    static func time(for bytes: Int, at bandwidth: Int) -> Duration {
        .nanoseconds((bytes * 1_000_000_000 + bandwidth - 1) / bandwidth)
    }
}
