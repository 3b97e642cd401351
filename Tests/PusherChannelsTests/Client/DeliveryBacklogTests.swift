import Dispatch
import Foundation
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct DeliveryBacklogTests {
    private let queue = DispatchQueue(label: "slow consumer")
    private let gate = DispatchSemaphore(value: 0)

    /// Creates a client whose delivery queue is blocked.
    private func rig(limit: Int) -> (ClientRig, Locked<[String?]>) {
        let rig = ClientRig.connected {
            ($0.delivery, $0.deliveryLimit, $0.pauseLimit) = (.queue(queue), limit, .seconds(5))
        }
        let heard = Locked<[String?]>([])
        rig.pusher.subscribe("news").bind(eventName: "n") { event in heard.withLock { $0.append(event.data) } }
        queue.sync {}
        queue.async { gate.wait() }
        return (rig, heard)
    }

    @Test func `A full delivery queue stops the socket's reading, and no event is lost`() {
        let (rig, heard) = rig(limit: 100)
        rig.publish(0..<20_000)
        #expect(!rig.socket.isReading)
        gate.signal()
        while heard.withLock({ $0.count }) < 20_000, !Task.isCancelled { queue.sync {} }
        #expect(heard.withLock { $0 } == (0..<20_000).map { "\($0)" })
        #expect(rig.pusher.connection.droppedEvents == 0)
    }

    @Test func `Past the pause limit, events without room are dropped, and a gap is reported`() async throws {
        let (rig, heard) = rig(limit: 100)
        rig.publish(0..<1_000)
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.pusher.connection.droppedEvents == 900)
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(2))
        gate.signal()
        queue.sync {}
        #expect(heard.withLock { $0 } == (0..<100).map { "\($0)" })
        let notification = try await rig.recorder.next { if case .gap("news", _) = $0 { true } else { false } }
        guard case .gap(_, let since) = notification else { return }
        #expect(Date().timeIntervalSince(since) > 6.9, "since the server had to wait, seven virtual seconds ago")
        rig.publish(1_000..<1_001)
        queue.sync {}
        #expect(heard.withLock { $0.last } == "1000")
        let states: [ConnectionState] = [.connecting, .connected, .reconnecting, .connecting, .connected]
        #expect(rig.recorder.states == states, "news of the connection is never dropped")
    }

    @Test func `Log lines that wait for the delegate stop the socket's reading, too`() {
        let (rig, _) = rig(limit: 100)
        for _ in 0..<200 { rig.socket.serverSendsEvent("n", channel: "nobody's") }
        #expect(!rig.socket.isReading)
        gate.signal()
        // The messages that were held back may stop the reading once more.
        while !rig.socket.isReading, !Task.isCancelled { queue.sync {} }
    }
}

@Suite struct BacklogValueTests {
    private let event = Delivery.event(Envelope(event: "n", channel: "news", data: "1"))

    /// A backlog of two whose pause limit is reached at a second; nil for not yet.
    private func full(pausedUntil seconds: Int?) -> DeliveryBacklog {
        var backlog = DeliveryBacklog(limit: 2, byteLimit: 1_000)
        backlog.add(count: 2, bytes: 0)
        if let seconds { backlog.pauseLimitReached(receivedUpTo: .seconds(seconds)) }
        return backlog
    }

    /// Deliveries that can't be dropped make the server wait a second time.
    @Test(arguments: [(true, 1), (false, 5)])
    func `A backlog's gap begins at the pause limit before its first loss`(isLossEarly: Bool, seconds: Int) {
        var backlog = full(pausedUntil: 1)
        if isLossEarly { #expect(backlog.admits(event, receivedUpTo: .seconds(60)) == false) }
        backlog.add(count: 2, bytes: 0)
        #expect(backlog.isOver)
        backlog.pauseLimitReached(receivedUpTo: .seconds(5))
        #expect(backlog.admits(event, receivedUpTo: .seconds(60)) == false)
        let (losses, since) = backlog.delivered(4, bytes: 0)
        #expect(losses == ["news"] && since == .seconds(seconds))
    }

    /// An event that waited for its key came before what was read last, and one that couldn't be decrypted long before that.
    @Test func `A backlog's gap begins before its oldest dropped event, or before the failed event of a decryption failure`() {
        let failed = Delivery.decryptionFailed(channel: "private-encrypted-a", event: "e", data: nil, since: .seconds(2))
        for lost in [[(event, 2), (event, 3)], [(failed, 18)]] {
            var backlog = full(pausedUntil: 5)
            for (delivery, seconds) in lost {
                #expect(backlog.admits(delivery, receivedUpTo: .seconds(seconds)) == false)
            }
            #expect(backlog.delivered(2, bytes: 0).since == .seconds(2))
        }
    }

    @Test func `A backlog drops events first, joins and errors later, and connection states never`() {
        let (channel, member) = ("presence-a" as Name, PresenceMember(userID: "ann", info: nil))
        let error = PusherError(.server, message: "no")
        let events = [
            event, .decryptionFailed(channel: "private-encrypted-a", event: "e", data: nil, since: .origin),
            .userEvent(Envelope(event: "note", channel: "#server-to-user-ann")),
        ]
        let news: [Delivery] = [
            .event(Envelope(event: "pusher:subscription_count", channel: "news", data: "1")),
            .memberAdded(channel: channel, member), .memberRemoved(channel: channel, member),
            .subscriptionCount(channel: "news", 1), .watchlist(WatchlistEvent(name: "online", userIDs: ["ann"])),
            .serverError(error), .report(error), .gap(channel: channel, since: .origin),
            .recovered(channel: channel, count: 1),
        ]
        let outcomes: [Delivery] = [
            .stateChanged(from: .connected, to: .reconnecting, because: nil), .subscribed(channel: channel),
            .subscriptionFailed(channel: channel, SubscriptionFailure(error: error)), .signedIn(userID: "ann"),
            .signInFailed(error),
        ]
        var backlog = full(pausedUntil: nil)
        func admitted(_ deliveries: [Delivery]) -> Int {
            deliveries.count { backlog.admits($0, receivedUpTo: .origin) }
        }
        backlog.pauseLimitReached(receivedUpTo: .origin)
        #expect([events, news, outcomes].map(admitted) == [0, news.count, outcomes.count])
        backlog.add(count: 2, bytes: 0)
        backlog.pauseLimitReached(receivedUpTo: .origin)
        #expect([events, news, outcomes].map(admitted) == [0, 0, outcomes.count])
        #expect(backlog.dropped == 2 * events.count + news.count)
        let losses: [Name] = ["#server-to-user-ann", "news", "presence-a", "private-encrypted-a"]
        #expect(backlog.delivered(3, bytes: 0).losses == losses)
        #expect([events, news, outcomes].map(admitted) == [events.count, news.count, outcomes.count])
    }

    /// Deliveries that aren't events count, too, because a server may send any number of them.
    @Test func `A delivery's size includes the text of its IDs, members, and errors`() {
        let text = String(repeating: "x", count: 1_000)
        let failure = SubscriptionFailure(
            error: PusherError(.authorization, message: "no"), authorization: AuthorizationFailure(message: "no", body: text))
        let deliveries: [Delivery] = [
            .watchlist(WatchlistEvent(name: "online", userIDs: [text])), .signedIn(userID: Name(text)),
            .subscriptionFailed(channel: "private-a", failure),
            .memberAdded(channel: "presence-a", PresenceMember(userID: Name(text), info: nil)),
            .serverError(PusherError(.server, message: text)), .signInFailed(PusherError(.authorization, message: text)),
            .stateChanged(from: .connected, to: .reconnecting, because: PusherError(.server, message: text)),
            .decryptionFailed(channel: "private-encrypted-a", event: "e", data: text, since: .origin),
        ]
        for delivery in deliveries { #expect(delivery.size >= 1_000, "\(delivery)") }
    }
}
