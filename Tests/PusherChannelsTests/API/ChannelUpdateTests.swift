import Foundation
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct ChannelUpdateTests {
    private struct Unusable: Error {}

    /// Returns the next update's gap, which begins the given time ago.
    private func gap(
        _ updates: inout PusherStream<ChannelUpdate>.AsyncIterator, ago seconds: ClosedRange<Double>
    ) async throws -> EventGap.Reason {
        guard case .eventsMayBeMissing(let gap)? = try await updates.next() else { throw Unusable() }
        let age = -gap.since.timeIntervalSinceNow
        #expect(seconds.contains(age), "\(age)")
        return gap.reason
    }

    @Test func `A channel's updates announce a reconnect with a gap that begins at the last message`() async throws {
        let rig = ClientRig.connected()
        var updates = rig.pusher.subscribe("news").updates.makeAsyncIterator()
        rig.publish(1..<2)
        rig.socket.serverSendsEvent("pusher_internal:subscription_count", channel: "news", data: #"{"subscription_count":3}"#)
        rig.scheduler.advance(by: .seconds(10))
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(100))
        rig.publish(2..<3)
        for word in ["n 1", "count 3"] { #expect(try await updates.next()?.word == word) }
        #expect(try await gap(&updates, ago: 109...111) == .reconnected)
        for word in ["subscribed", "n 2"] { #expect(try await updates.next()?.word == word) }
    }

    @Test func `A channel's updates begin with the subscription, even if the channel was subscribed before`() async throws {
        let rig = ClientRig.connected()
        var updates = rig.pusher.updates(of: "news").makeAsyncIterator()
        rig.publish(1..<2)
        for word in ["subscribed", "n 1"] { #expect(try await updates.next()?.word == word) }
        let again = rig.pusher.updates(of: "news")
        rig.publish(2..<3)
        #expect(try await again.words(count: 2) == ["subscribed", "n 2"], "it is subscribed already")
        withExtendedLifetime(updates) {}
        #expect(rig.socket.frames.count { $0.event == "pusher:subscribe" } == 1)
    }

    @Test func `Requesting the updates of a refused channel asks for its authorization again`() async throws {
        let rig = ClientRig.connected(auth: .endpoint(authEndpoint: "https://example.com/auth"))
        rig.session.stub("POST https://example.com/auth", .http(403), .json(["auth": "key:signature"]))
        #expect(await rig.pusher.updates(of: "private-a").read().error?.code == 403)
        #expect(try await rig.pusher.updates(of: "private-a").words(count: 1) == ["subscribed"])
    }

    @Test func `Updates of an invalid channel name throw, and those requested after a shutdown end at once`() async throws {
        let rig = ClientRig.connected()
        #expect(await rig.pusher.updates(of: "no name").read().error != nil)
        await rig.pusher.shutdown()
        #expect(try await rig.pusher.updates(of: "news").words().isEmpty)
    }

    @Test(arguments: [StreamBuffering.Overflow.dropOldest, .dropNewest])
    func `If a gap's element is dropped, the next gap begins where it began`(overflow: StreamBuffering.Overflow) async throws {
        let rig = ClientRig.connected()
        let buffering = StreamBuffering(limit: 1, overflow: overflow)
        var updates = rig.pusher.subscribe("news").updates(buffering: buffering).makeAsyncIterator()
        rig.publish(1..<2)
        if overflow == .dropOldest { #expect(try await updates.next()?.word == "n 1") }
        rig.scheduler.advance(by: .seconds(10))
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(100))
        if overflow == .dropNewest { #expect(try await updates.next()?.word == "n 1") }
        #expect(try await gap(&updates, ago: 109...111) == .overflow)
    }

    @Test(arguments: ["news", "private-encrypted-orders"])
    func `A gap begins before the arrival of dropped events that had waited to be read`(channel: String) async throws {
        let rig = ClientRig.connected(auth: .inline(secret: "secret", encryptionMasterKey: EncryptedChannelTests.masterKey))
        let buffering = StreamBuffering(limit: 1, overflow: .dropOldest)
        var updates = rig.pusher.subscribe(channel).updates(buffering: buffering).makeAsyncIterator()
        rig.scheduler.advance(by: .seconds(30))
        rig.read(
            Array(repeating: #"{"event":"placed","channel":"\#(channel)","data":"\#(EncryptedChannelTests.event)"}"#, count: 3),
            age: .seconds(20))
        #expect(try await gap(&updates, ago: 20...40) == .overflow)
    }

    /// The application's own error ends the loop, and the next one must not begin as if nothing had been missed.
    @Test(arguments: [false, true])
    func `A second stream of updates begins with a gap since the event on which the first loop threw`(
        isNextTaken: Bool
    ) async throws {
        let rig = ClientRig.connected()
        await #expect(throws: Unusable.self) {
            try await rig.pusher.updates(of: "news").words { update in
                if case .subscribed = update { rig.publish(isNextTaken ? 0..<2 : 1..<2) }
                guard case .event(let event) = update else { return }
                if event.data == "1" { throw Unusable() }
                // The loop gets the other one when it has the next batch, too.
                rig.scheduler.advance(by: .seconds(9))
                rig.publish(2..<3)
            }
        }
        rig.scheduler.advance(by: .seconds(10))
        rig.publish(3..<4)
        var updates = rig.pusher.updates(of: "news").makeAsyncIterator()
        let age = isNextTaken ? 19.0...20 : 10...11
        #expect(try await gap(&updates, ago: age) == .betweenStreams, "it begins before the event that was not handled")
        #expect(try await updates.next()?.word == "subscribed")
    }

    @Test func `A stream ended for a slow reader counts its losses, and the next stream begins with a gap`() async throws {
        let rig = ClientRig.connected { $0.pauseLimit = .seconds(1) }
        let slow = rig.pusher.updates(of: "news", buffering: StreamBuffering(limit: 2))
        rig.publish(0..<2)
        rig.scheduler.advance(by: .seconds(2))
        rig.publish(0..<7)
        #expect(slow.dropped == 8)
        #expect(await slow.read().error != nil)
        var iterator: PusherStream<ChannelUpdate>.AsyncIterator? = slow.makeAsyncIterator()
        _ = consume slow
        iterator = nil
        _ = iterator
        var updates = rig.pusher.updates(of: "news").makeAsyncIterator()
        #expect(try await gap(&updates, ago: 2...3) == .betweenStreams)
    }

    /// `updates = pusher.updates(of: "news")` makes the new stream before it releases the old one.
    @Test(arguments: [true, false])
    func `A stream in the place of one that ended begins with the gap, and the next one has none`(isTooSlow: Bool) async throws {
        let rig = ClientRig.connected { $0.pauseLimit = .seconds(1) }
        var ended = Optional(rig.pusher.updates(of: "news", buffering: StreamBuffering(limit: isTooSlow ? 2 : 100)))
        rig.publish(0..<2)
        rig.scheduler.advance(by: .seconds(2))
        if isTooSlow { _ = await ended?.read() } else { _ = try await ended?.words(count: 2) }
        rig.publish(2..<3)
        var updates = rig.pusher.updates(of: "news").makeAsyncIterator()
        withExtendedLifetime(ended) {}
        ended = nil
        _ = ended
        #expect(try await gap(&updates, ago: 2...3) == .betweenStreams)
        #expect(try await updates.next()?.word == "subscribed")
        #expect(try await rig.pusher.updates(of: "news").words(count: 1) == ["subscribed"])
        withExtendedLifetime(updates) {}
    }

    @Test func `A stream in the place of one whose loop ended before it took anything begins with the gap`() async throws {
        let rig = ClientRig.connected()
        let old = rig.pusher.updates(of: "news")
        _ = old.makeAsyncIterator()
        rig.publish(0..<2)
        var updates = rig.pusher.updates(of: "news").makeAsyncIterator()
        #expect(try await gap(&updates, ago: 0...1) == .betweenStreams)
        withExtendedLifetime(old) {}
    }

    @Test(arguments: [true, false])
    func `Updates of a channel that was unsubscribed in between begin without a gap`(givesUpFirst: Bool) async throws {
        let rig = ClientRig.connected()
        var stream: PusherStream<ChannelUpdate>? = rig.pusher.updates(of: "news")
        if givesUpFirst { rig.pusher.unsubscribe("news") }
        stream = nil
        _ = stream
        if !givesUpFirst { rig.pusher.unsubscribe("news") }
        #expect(try await rig.pusher.updates(of: "news").words(count: 1) == ["subscribed"])
    }

    @Test func `Each of the protocol's own events appears only once among a channel's updates`() async throws {
        let rig = ClientRig()
        let updates = rig.pusher.subscribe("presence-room").updates
        let cache = rig.pusher.subscribe("cache-room").updates
        rig.pusher.connect()
        for event in ["member_added", "member_removed"] {
            rig.socket.serverSendsEvent("pusher_internal:\(event)", channel: "presence-room", data: #"{"user_id":"bob"}"#)
        }
        rig.socket.publish(channel: "presence-room", event: "n", data: "1")
        #expect(try await updates.words(count: 4) == ["subscribed", "+bob", "-bob", "n 1"])
        #expect(try await cache.words(count: 2) == ["subscribed", "pusher:cache_miss "])
    }
}

@Suite(.timeLimit(.lost)) struct DecodedStreamTests {
    @Test func `Event data that can't be decoded is an element and doesn't end the stream`() async throws {
        let rig = ClientRig.connected()
        let prices = rig.pusher.subscribe("prices").events(named: "price", as: Double.self)
        for data in ["1.5", "free", "2"] { rig.socket.publish(channel: "prices", event: "price", data: data) }
        rig.socket.publish(channel: "prices", event: "other", data: "3")
        rig.pusher.unsubscribe("prices")
        var values: [Double?] = []
        for try await price in prices {
            if case .failure(let error) = price { #expect(error is DecodingError) }
            values.append(try? price.get())
        }
        #expect(values == [1.5, nil, 2])
    }

    @MainActor @Test func `A loop on the main actor receives decoded events on the main actor`() async throws {
        let rig = ClientRig.connected()
        let prices = rig.pusher.subscribe("prices").events(named: "price", as: Int.self, buffering: StreamBuffering(limit: 1))
        rig.socket.publish(channel: "prices", event: "price", data: "1")
        for try await price in prices {
            MainActor.assertIsolated()
            #expect(try price.get() == 1)
            break
        }
        #expect(prices.dropped == 0)
    }
}
