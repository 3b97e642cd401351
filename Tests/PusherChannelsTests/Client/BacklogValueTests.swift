import TestSupport
import Testing

@testable import PusherChannels

/// What waits on the delivery queue, as a value.
@Suite struct BacklogValueTests {
    private let event = Delivery.event(Envelope(event: "n", channel: "news", data: "1"))

    private func full(_ limit: Int) -> DeliveryBacklog {
        var backlog = DeliveryBacklog(limit: limit, byteLimit: 1_000)
        backlog.add(count: limit, bytes: 0)
        return backlog
    }

    /// Whether there is room for one more event.
    private func admits(_ backlog: inout DeliveryBacklog) -> Bool { backlog.admits(event) }

    @Test func readingGoesOnWhenHalfOfTheQueueIsFree() {
        var backlog = full(10)
        _ = backlog.delivered(4, bytes: 0)
        #expect(backlog.isOver)
        _ = backlog.delivered(1, bytes: 0)
        #expect(!backlog.isOver)
    }

    /// What cannot be dropped makes the server wait a second time; what is missing is missing since the first.
    @Test func aSecondPauseLimitLeavesTheGapWhereItBegan() {
        var backlog = full(2)
        backlog.pauseLimitReached(heardUpTo: .seconds(1))
        #expect(!admits(&backlog))
        backlog.add(count: 2, bytes: 0)
        #expect(backlog.isOver)
        backlog.pauseLimitReached(heardUpTo: .seconds(5))
        let (losses, since) = backlog.delivered(4, bytes: 0)
        #expect(losses == ["news"])
        #expect(since == .seconds(1))
    }

    @Test func whatWasLostIsToldOnce() {
        var backlog = full(2)
        backlog.pauseLimitReached(heardUpTo: .seconds(1))
        #expect(!admits(&backlog))
        #expect(backlog.delivered(2, bytes: 0).losses == ["news"])
        backlog.add(count: 2, bytes: 0)
        #expect(backlog.delivered(2, bytes: 0).losses == [])
    }

    @Test func withoutALossItBeginsAtTheSecond() {
        var backlog = full(2)
        backlog.pauseLimitReached(heardUpTo: .seconds(1))
        backlog.add(count: 2, bytes: 0)
        backlog.pauseLimitReached(heardUpTo: .seconds(5))
        #expect(!admits(&backlog))
        let (_, since) = backlog.delivered(4, bytes: 0)
        #expect(since == .seconds(5))
    }
}
