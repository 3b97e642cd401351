import TestSupport
import Testing

@testable import PusherChannels

/// The one timer of a connection, as a value.
@Suite struct DeadlineTimerTests {
    private struct Scheduled: ScheduledAction {
        func cancel() {}
    }

    private var timer = DeadlineTimer()

    /// Sets a timer for a deadline and returns its number.
    private mutating func set(_ deadline: Instant) throws -> Int {
        let change = timer.change(for: deadline)
        return try #require(change).number
    }

    @Test mutating func `A deadline timer is set again only for an earlier deadline and canceled if there is none`() throws {
        let changes = ([nil, .seconds(2), .seconds(2), .seconds(3), .seconds(1), nil] as [Instant?]).map { timer.change(for: $0) }
        #expect(changes.map { $0 != nil } == [false, true, false, false, true, true])
        #expect(changes.map(\.?.deadline) == [nil, .seconds(2), nil, nil, .seconds(1), nil])
    }

    /// The earlier timer may be about to ring when it is replaced.
    @Test mutating func `Only the deadline timer that was set last fires, and only once`() throws {
        let (first, second) = (try set(.seconds(2)), try set(.seconds(1)))
        let rung = [first, second, second].map { timer.hasFired($0) }
        #expect(rung == [false, true, false], "and once")
    }

    /// Another thread may replace the earlier timer before its scheduled action can be kept.
    @Test mutating func `A scheduled action is kept only for the latest timer, and only until that timer fires`() throws {
        let (first, second) = (try set(.seconds(2)), try set(.seconds(1)))
        let kept = [first, second].map { timer.keep(Scheduled(), number: $0) }
        #expect(kept == [false, true])
        _ = timer.hasFired(second)
        let isKept = timer.keep(Scheduled(), number: second)
        #expect(!isKept)
    }
}
