import TestSupport
import Testing

@testable import PusherChannels

/// The deliveries that wait on the application's queue, as a value.
@Suite struct BacklogValueTests {
    private let event = Delivery.event(Envelope(event: "n", channel: "news", data: "1"))

    private func full(_ limit: Int) -> DeliveryBacklog {
        var backlog = DeliveryBacklog(limit: limit, byteLimit: 1_000)
        backlog.add(count: limit, bytes: 0)
        return backlog
    }

    /// Indicates whether there is room for one more event.
    private func admits(_ backlog: inout DeliveryBacklog, receivedUpTo time: Instant = .seconds(60)) -> Bool {
        backlog.admits(event, receivedUpTo: time)
    }

    @Test func readingGoesOnWhenHalfOfTheQueueIsFree() {
        var backlog = full(10)
        _ = backlog.delivered(4, bytes: 0)
        #expect(backlog.isOver)
        _ = backlog.delivered(1, bytes: 0)
        #expect(!backlog.isOver)
    }

    /// Deliveries that can't be dropped make the server wait a second time; the gap still begins at the first.
    @Test func aSecondPauseLimitLeavesTheGapWhereItBegan() {
        var backlog = full(2)
        backlog.pauseLimitReached(receivedUpTo: .seconds(1))
        #expect(!admits(&backlog))
        backlog.add(count: 2, bytes: 0)
        #expect(backlog.isOver)
        backlog.pauseLimitReached(receivedUpTo: .seconds(5))
        let (losses, since) = backlog.delivered(4, bytes: 0)
        #expect(losses == ["news"])
        #expect(since == .seconds(1))
    }

    /// An event that waited for its key came before what was read last.
    @Test func theGapBeginsBeforeTheOldestLoss() {
        var backlog = full(2)
        backlog.pauseLimitReached(receivedUpTo: .seconds(5))
        #expect(!admits(&backlog, receivedUpTo: .seconds(2)))
        #expect(!admits(&backlog, receivedUpTo: .seconds(3)))
        let (_, since) = backlog.delivered(2, bytes: 0)
        #expect(since == .seconds(2))
    }

    /// An event that could not be decrypted came long before it was given up.
    @Test func theGapBeginsBeforeWhatCouldNotBeDecrypted() {
        var backlog = full(2)
        backlog.pauseLimitReached(receivedUpTo: .seconds(5))
        let failed = Delivery.decryptionFailed(channel: "private-encrypted-a", event: "e", data: nil, since: .seconds(2))
        let isAdmitted = backlog.admits(failed, receivedUpTo: .seconds(18))
        #expect(!isAdmitted)
        #expect(backlog.delivered(2, bytes: 0).since == .seconds(2))
    }

    /// Events first, then what a server may say at any time; never what comes of the application's own calls.
    @Test func whatMattersMoreIsDroppedLater() {
        let (channel, member) = ("presence-a" as Name, PresenceMember(userID: "ann", info: nil))
        let error = PusherError(.server, message: "no")
        let events = [event, .decryptionFailed(channel: "private-encrypted-a", event: "e", data: nil, since: .origin)]
        let news: [Delivery] = [
            .event(Envelope(event: "pusher:subscription_count", channel: "news", data: "1")),
            .memberAdded(channel: channel, member), .memberRemoved(channel: channel, member),
            .subscriptionCount(channel: "news", 1), .watchlist(WatchlistEvent(name: "online", userIDs: ["ann"])),
            .serverError(error), .report(error),
        ]
        let outcomes: [Delivery] = [
            .stateChanged(from: .connected, to: .reconnecting, because: nil), .subscribed(channel: channel),
            .subscriptionFailed(channel: channel, SubscriptionFailure(error: error)), .gap(channel: channel, since: .origin),
            .signedIn(userID: "ann"), .signInFailed(error),
        ]
        var backlog = full(2)
        func admitted(_ deliveries: [Delivery]) -> Int {
            deliveries.count { backlog.admits($0, receivedUpTo: .origin) }
        }
        backlog.pauseLimitReached(receivedUpTo: .origin)
        #expect([events, news, outcomes].map(admitted) == [0, news.count, outcomes.count])
        backlog.add(count: 2, bytes: 0)
        backlog.pauseLimitReached(receivedUpTo: .origin)
        #expect([events, news, outcomes].map(admitted) == [0, 0, outcomes.count])
        #expect(backlog.dropped == 2 * events.count + news.count)
        #expect(backlog.delivered(3, bytes: 0).losses == ["news", "presence-a", "private-encrypted-a"])
        #expect([events, news, outcomes].map(admitted) == [events.count, news.count, outcomes.count])
    }

    @Test func whatWasLostIsToldOnce() {
        var backlog = full(2)
        backlog.pauseLimitReached(receivedUpTo: .seconds(1))
        #expect(!admits(&backlog))
        #expect(backlog.delivered(2, bytes: 0).losses == ["news"])
        backlog.add(count: 2, bytes: 0)
        #expect(backlog.delivered(2, bytes: 0).losses == [])
    }

    /// Deliveries that aren't events count, too, because a server may send any number of them.
    @Test func whateverWaitsCountsInBytes() {
        let text = String(repeating: "x", count: 1_000)
        let failure = SubscriptionFailure(
            error: PusherError(.authorization, message: "no"), authorization: AuthorizationFailure(message: "no", body: text))
        let deliveries: [Delivery] = [
            .watchlist(WatchlistEvent(name: "online", userIDs: [text])), .signedIn(userID: Name(text)),
            .subscriptionFailed(channel: "private-a", failure),
            .memberAdded(channel: "presence-a", PresenceMember(userID: Name(text), info: nil)),
            .serverError(PusherError(.server, message: text)), .signInFailed(PusherError(.authorization, message: text)),
            .stateChanged(from: .connected, to: .reconnecting, because: PusherError(.server, message: text)),
        ]
        for delivery in deliveries { #expect(delivery.size >= 1_000, "\(delivery)") }
    }

    @Test func withoutALossItBeginsAtTheSecond() {
        var backlog = full(2)
        backlog.pauseLimitReached(receivedUpTo: .seconds(1))
        backlog.add(count: 2, bytes: 0)
        backlog.pauseLimitReached(receivedUpTo: .seconds(5))
        #expect(!admits(&backlog))
        let (_, since) = backlog.delivered(4, bytes: 0)
        #expect(since == .seconds(5))
    }
}
