import Foundation
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct ChannelUpdateTests {
    private func lines(_ updates: PusherStream<ChannelUpdate>, _ count: Int) async throws -> [String] {
        var lines: [String] = []
        for try await update in updates {
            lines.append(line(update))
            if lines.count == count { break }
        }
        return lines
    }

    private func line(_ update: ChannelUpdate) -> String {
        switch update {
        case .subscribed: "subscribed"
        case .event(let event): "\(event.eventName) \(event.data ?? "")"
        case .eventsMayBeMissing(let gap): "\(gap.reason) \(gap.since.timeIntervalSince1970)"
        case .memberAdded(let member): "+\(member.userID)"
        case .memberRemoved(let member): "-\(member.userID)"
        case .recovered(let count): "recovered \(count)"
        case .subscriptionCount(let count): "count \(count)"
        case .subscriptionFailed(let error): "failed \(error.code ?? 0)"
        }
    }

    private struct Unusable: Error {}

    private func gap(_ update: ChannelUpdate?) throws -> EventGap {
        if case .eventsMayBeMissing(let gap)? = update { return gap }
        throw Unusable()
    }

    @Test func `A channel's updates announce a reconnect with a gap that begins at the last message`() async throws {
        let rig = ClientRig.connected()
        let updates = rig.pusher.subscribe("news").updates
        rig.socket.publish(channel: "news", event: "n", data: "1")
        rig.socket.serverSendsEvent("pusher_internal:subscription_count", channel: "news", data: #"{"subscription_count":3}"#)
        rig.scheduler.advance(by: .seconds(10))
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(100))
        rig.socket.publish(channel: "news", event: "n", data: "2")
        var gaps: [EventGap] = []
        var heard: [String] = []
        for try await update in updates {
            if case .eventsMayBeMissing(let gap) = update { gaps.append(gap) } else { heard.append(line(update)) }
            if heard.last == "n 2" { break }
        }
        #expect(heard == ["n 1", "count 3", "subscribed", "n 2"])
        #expect(gaps.map(\.reason) == [.reconnected])
        // By the client's clock, the last message came 110 seconds ago.
        let age = try -#require(gaps.first).since.timeIntervalSinceNow
        #expect((109...111).contains(age), "\(age)")
    }

    @Test func `A channel's updates begin with the subscription, even if the channel was subscribed before`() async throws {
        let rig = ClientRig.connected()
        let updates = rig.pusher.updates(of: "news")
        rig.socket.publish(channel: "news", event: "n", data: "1")
        #expect(try await lines(updates, 2) == ["subscribed", "n 1"])
        let again = rig.pusher.updates(of: "news")
        rig.socket.publish(channel: "news", event: "n", data: "2")
        #expect(try await lines(again, 2) == ["subscribed", "n 2"], "it is subscribed already")
        withExtendedLifetime(updates) {}
        #expect(rig.socket.frames.filter { $0.event == "pusher:subscribe" }.count == 1)
    }

    @Test func `Requesting the updates of a refused channel asks for its authorization again`() async throws {
        let rig = ClientRig.connected(auth: .endpoint(authEndpoint: "https://example.com/auth"))
        rig.session.stub("POST https://example.com/auth", .http(403), .json(["auth": "key:signature"]))
        let refused = rig.pusher.updates(of: "private-a")
        let error = await #expect(throws: PusherError.self) { for try await _ in refused {} }
        #expect(error?.code == 403)
        #expect(try await lines(rig.pusher.updates(of: "private-a"), 1) == ["subscribed"])
    }

    @Test func `Updates of an invalid channel name throw, and those requested after a shutdown end at once`() async throws {
        let rig = ClientRig.connected()
        await #expect(throws: PusherError.self) { for try await _ in rig.pusher.updates(of: "no name") {} }
        await rig.pusher.shutdown()
        for try await _ in rig.pusher.updates(of: "news") { Issue.record("nothing can come") }
    }

    @Test(arguments: [StreamBuffering.Overflow.dropOldest, .dropNewest])
    func `If a gap's element is dropped, the next gap begins where the dropped one began`(overflow: StreamBuffering.Overflow)
        async throws
    {
        let rig = ClientRig.connected()
        let updates = rig.pusher.subscribe("news").updates(buffering: StreamBuffering(limit: 1, overflow: overflow))
        var iterator = updates.makeAsyncIterator()
        rig.socket.publish(channel: "news", event: "n", data: "1")
        if overflow == .dropOldest { #expect(try await iterator.next().map(line) == "n 1") }
        rig.scheduler.advance(by: .seconds(10))
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(100))
        if overflow == .dropNewest { #expect(try await iterator.next().map(line) == "n 1") }
        let gap = try await gap(iterator.next())
        #expect(gap.reason == .overflow)
        let age = -gap.since.timeIntervalSinceNow
        #expect((109...111).contains(age), "\(age)")
    }

    @Test(arguments: ["news", "private-encrypted-orders"])
    func `A gap begins before the arrival of dropped events that had waited to be read`(channel: String) async throws {
        let rig = ClientRig.connected(auth: .inline(secret: "secret", encryptionMasterKey: EncryptedChannelTests.masterKey))
        let updates = rig.pusher.subscribe(channel).updates(buffering: StreamBuffering(limit: 1, overflow: .dropOldest))
        rig.scheduler.advance(by: .seconds(30))
        let message = #"{"event":"placed","channel":"\#(channel)","data":"\#(EncryptedChannelTests.event)"}"#
        rig.read(Array(repeating: message, count: 3), age: .seconds(20))
        for try await update in updates {
            guard case .eventsMayBeMissing(let gap) = update else { continue }
            #expect(gap.reason == .overflow)
            #expect(gap.since.timeIntervalSinceNow <= -20)
            break
        }
    }

    /// The application's own error ends the loop, and the next one must not begin as if nothing had been missed.
    @Test func `A second stream of updates begins with a gap since the event on which the first loop threw`() async throws {
        let rig = ClientRig.connected()
        func publish() { rig.socket.publish(channel: "news", event: "n", data: "1") }
        await #expect(throws: Unusable.self) {
            for try await update in rig.pusher.updates(of: "news") {
                if case .subscribed = update { publish() }
                if case .event = update { throw Unusable() }
            }
        }
        rig.scheduler.advance(by: .seconds(10))
        publish()
        var iterator = rig.pusher.updates(of: "news").makeAsyncIterator()
        let gap = try await gap(iterator.next())
        #expect(gap.reason == .betweenStreams)
        #expect((10...11).contains(-gap.since.timeIntervalSinceNow), "it begins before the event that was not handled")
        #expect(try await iterator.next().map(line) == "subscribed")
    }

    @Test func `A stream ended for a slow reader counts its losses, and the next stream begins with a gap`() async throws {
        let rig = ClientRig.connected { $0.pauseLimit = .seconds(1) }
        let slow = rig.pusher.updates(of: "news", buffering: StreamBuffering(limit: 2))
        for _ in 0..<2 { rig.socket.publish(channel: "news", event: "n", data: "1") }
        rig.scheduler.advance(by: .seconds(2))
        for _ in 0..<7 { rig.socket.publish(channel: "news", event: "n", data: "1") }
        #expect(slow.dropped == 8)
        await #expect(throws: PusherError.self) { for try await _ in slow {} }
        var iterator: PusherStream<ChannelUpdate>.AsyncIterator? = slow.makeAsyncIterator()
        _ = consume slow
        iterator = nil
        iterator = rig.pusher.updates(of: "news").makeAsyncIterator()
        let gap = try await gap(iterator?.next())
        #expect(gap.reason == .betweenStreams)
        #expect((2...3).contains(-gap.since.timeIntervalSinceNow))
    }

    @Test(arguments: [true, false])
    func `Updates of a channel that was unsubscribed in between begin without a gap`(givesUpFirst: Bool) async throws {
        let rig = ClientRig.connected()
        var stream: PusherStream<ChannelUpdate>? = rig.pusher.updates(of: "news")
        if givesUpFirst { rig.pusher.unsubscribe("news") }
        stream = nil
        _ = stream
        if !givesUpFirst { rig.pusher.unsubscribe("news") }
        var iterator = rig.pusher.updates(of: "news").makeAsyncIterator()
        #expect(try await iterator.next().map(line) == "subscribed")
    }

    @Test func `Each of the protocol's own events appears only once among a channel's updates`() async throws {
        let rig = ClientRig()
        let updates = rig.pusher.subscribe("presence-room").updates
        let cache = rig.pusher.subscribe("cache-room").updates
        rig.pusher.connect()
        rig.socket.serverSendsEvent(
            "pusher_internal:member_added", channel: "presence-room", data: #"{"user_id":"bob","user_info":{}}"#)
        rig.socket.serverSendsEvent("pusher_internal:member_removed", channel: "presence-room", data: #"{"user_id":"bob"}"#)
        rig.socket.publish(channel: "presence-room", event: "n", data: "1")
        #expect(try await lines(updates, 4) == ["subscribed", "+bob", "-bob", "n 1"])
        #expect(try await lines(cache, 2) == ["subscribed", "pusher:cache_miss "])
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
