import Foundation
import Testing

@testable import PusherChannels

/// When a followed channel's state is loaded, and what becomes of its events meanwhile.
@Suite struct FollowedChannelTests {
    private var random = SplitMix64(seed: 1)

    private func event(_ data: String) -> ChannelUpdate {
        .event(PusherEvent(envelope: Envelope(event: "n", channel: "orders", data: data), decoder: nil))
    }

    private let gap = ChannelUpdate.eventsMayBeMissing(EventGap(since: .distantPast, reason: .reconnected))

    /// A channel whose first state came at the given time.
    private func live(at now: Instant = .origin, _ buffering: StreamBuffering = StreamBuffering()) -> FollowedChannel {
        var channel = FollowedChannel(buffering)
        _ = channel.read(.subscribed, at: now)
        _ = channel.begin(1)
        _ = channel.loaded(1, at: now)
        return channel
    }

    /// A channel whose first load is under way.
    private func loading(_ buffering: StreamBuffering = StreamBuffering()) -> FollowedChannel {
        var channel = FollowedChannel(buffering)
        _ = channel.read(.subscribed, at: .origin)
        _ = channel.begin(1)
        return channel
    }

    @Test mutating func `A load begins after the subscription, and events are held from its start on`() {
        var channel = FollowedChannel(StreamBuffering())
        #expect(channel.read(event("0"), at: .origin).word == "nothing")
        #expect(channel.read(.subscribed, at: .origin).word == "load")
        #expect(channel.delay(of: "orders", at: .origin, using: &random).0 == .zero)
        #expect(channel.read(event("1"), at: .origin).word == "nothing")
        #expect(channel.begin(1) == true)
        #expect(channel.read(event("2"), at: .origin).word == "hold")
        let held = channel.loaded(1, at: .origin)?.held
        #expect(held?.map(\.data) == ["2"])
        #expect(channel.read(event("3"), at: .origin).word == "give 3")
    }

    @Test func `A gap during a load causes one more load and drops the held events`() {
        var channel = loading()
        _ = channel.read(event("1"), at: .origin)
        #expect(channel.read(gap, at: .origin).word == "nothing")
        #expect(channel.read(gap, at: .origin).word == "nothing")
        #expect(channel.read(event("2"), at: .origin).word == "nothing")
        #expect(channel.heldBytes == 0)
        let first = channel.loaded(1, at: .origin)
        #expect(first.map { "\($0.reason)" } == "first" && first?.held.isEmpty == true)
        #expect(!channel.isLive && channel.load == 2)
        #expect(channel.begin(2) == true)
        #expect(channel.loaded(2, at: .origin).map { "\($0.reason)" } == "reconnected")
        #expect(channel.isLive)
    }

    // Proves P19.6.
    @Test func `A channel that recovered all missed events isn't loaded again`() {
        var channel = live()
        #expect(channel.read(event("1"), at: .origin).word == "give 1", "it was replayed")
        #expect(channel.read(.recovered(count: 1), at: .origin).word == "nothing")
        #expect(channel.read(.subscribed, at: .origin).word == "nothing")
        #expect(channel.read(event("2"), at: .origin).word == "give 2")
        #expect(channel.read(.subscribed, at: .origin).word == "load", "the next success is another matter")
    }

    @Test func `Events and gaps taken before a load began are covered by the load`() {
        var channel = live()
        #expect(channel.read(gap, isOld: true, at: .origin).word == "load")
        #expect(channel.read(event("1"), isOld: true, at: .origin).word == "nothing")
        #expect(channel.read(gap, isOld: true, at: .origin).word == "nothing")
        _ = channel.begin(2)
        #expect(channel.read(event("2"), isOld: true, at: .origin).word == "nothing")
        #expect(channel.loaded(2, at: .origin)?.held.count == 0)
        #expect(channel.isLive)
    }

    @Test mutating func `A failed load is tried again with growing delays, until one succeeds`() {
        var channel = live(at: .origin)
        let later = Instant.origin + .seconds(100)
        _ = channel.read(gap, at: later)
        #expect(channel.delay(of: "orders", at: later, using: &random).0 == .zero)
        var longest: [Duration] = []
        for load in 2..<12 {
            #expect(channel.begin(load) == true)
            #expect(channel.failed(load, at: later) == true)
            let delays = (0..<200).map { _ in channel.delay(of: "orders", at: later, using: &random) }
            #expect(delays.allSatisfy { $0.1 == nil })
            longest.append(delays.map(\.0).max() ?? .zero)
        }
        #expect(longest[0] < .seconds(1) && longest[1] > .seconds(1) && longest[9] > .seconds(32) && longest[9] <= .seconds(60))
        _ = channel.begin(12)
        _ = channel.loaded(12, at: later)
        _ = channel.read(gap, at: later + .seconds(61))
        #expect(channel.delay(of: "orders", at: later + .seconds(61), using: &random).0 == .zero)
    }

    @Test mutating func `Loads within a minute of each other are postponed, and the reason is reported`() {
        var channel = live(at: .origin)
        var now = Instant.origin
        var told: [PusherError?] = []
        for load in 2..<6 {
            now = now + .seconds(30)
            #expect(channel.read(gap, at: now).word == "load")
            told.append(channel.delay(of: "orders", at: now, using: &random).1)
            _ = channel.begin(load)
            _ = channel.loaded(load, at: now)
        }
        #expect(told.allSatisfy { $0?.kind == .loadPostponed })
        #expect(told[0]?.message.contains("(reconnected), after 30.000s") == true)
        now = now + .seconds(60)
        _ = channel.read(gap, at: now)
        #expect(channel.delay(of: "orders", at: now, using: &random).1 == nil)
    }

    @Test func `Several reloads cause one load, and one more if a load is under way`() {
        var channel = FollowedChannel(StreamBuffering())
        #expect(channel.reload(.reload, at: .origin).word == "nothing", "there will be a first one")
        #expect(channel.reload(.first, at: .origin).word == "load")
        #expect(channel.reload(.reload, at: .origin).word == "nothing")
        _ = channel.begin(1)
        #expect(channel.reload(.reload, at: .origin).word == "nothing")
        _ = channel.loaded(1, at: .origin)
        #expect(channel.load == 2 && !channel.isLive)
    }

    @Test func `An answer to an older load changes nothing`() {
        var channel = live()
        #expect(channel.loaded(1, at: .origin) == nil)
        _ = channel.read(gap, at: .origin)
        #expect(channel.begin(1) == false)
        #expect(channel.loaded(2, at: .origin) == nil, "it hasn't begun")
        #expect(channel.begin(2) == true)
        #expect(channel.begin(2) == false)
        #expect(channel.failed(1, at: .origin) == false)
        #expect(channel.failed(2, at: .origin) == true)
    }

    @Test func `A channel notices when it holds more events or bytes than its buffering allows`() {
        var channel = loading(StreamBuffering(limit: 2))
        for data in ["1", "2"] { _ = channel.read(event(data), at: .origin) }
        #expect(!channel.holdsTooMuch)
        _ = channel.read(event("3"), at: .origin)
        #expect(channel.holdsTooMuch)
        let size = channel.heldBytes
        var full = loading(StreamBuffering(byteLimit: size))
        for data in ["1", "2", "3"] { _ = full.read(event(data), at: .origin) }
        #expect(full.heldBytes == size && !full.holdsTooMuch)
        _ = full.read(event("4"), at: .origin)
        #expect(full.holdsTooMuch)
    }

    @Test func `A channel subscribed again without a gap is loaded again, and a gap is the better reason`() {
        var channel = live()
        #expect(channel.read(.subscribed, at: .origin).word == "load")
        #expect(channel.read(gap, at: .origin).word == "nothing")
        _ = channel.begin(2)
        #expect(channel.loaded(2, at: .origin).map { "\($0.reason)" } == "reconnected")
        #expect(channel.read(.subscribed, at: .origin).word == "load")
        _ = channel.begin(3)
        #expect(channel.loaded(3, at: .origin).map { "\($0.reason)" } == "subscribed again")
    }

    @Test func `An old gap of an overflow causes a load, and a gap between streams causes none`() {
        var channel = live()
        _ = channel.read(gap, isOld: true, at: .origin)
        _ = channel.begin(2)
        _ = channel.read(.eventsMayBeMissing(EventGap(since: .distantPast, reason: .overflow)), isOld: true, at: .origin)
        _ = channel.loaded(2, at: .origin)
        #expect(channel.load == 3 && !channel.isLive)
        channel = live()
        #expect(
            channel.read(.eventsMayBeMissing(EventGap(since: .distantPast, reason: .betweenStreams)), at: .origin).word
                == "nothing")
    }

    @Test mutating func `A channel whose loop goes on elsewhere keeps its delays between loads`() {
        var channel = live()
        _ = channel.read(gap, at: .origin)
        _ = channel.begin(2)
        _ = channel.read(event("1"), at: .origin)
        channel = channel.interrupted
        #expect(channel.isLive && channel.heldBytes == 0)
        #expect(channel.reload(.gap(EventGap(since: .distantPast, reason: .overflow)), at: .origin).word == "load")
        #expect(channel.delay(of: "orders", at: .origin, using: &random).1?.kind == .loadPostponed)
    }

    @Test func `A refusal is reported in every phase of a followed channel`() {
        let refusal = ChannelUpdate.subscriptionFailed(PusherError(.subscriptionRefused, message: "no"))
        var channel = FollowedChannel(StreamBuffering())
        #expect(channel.read(refusal, at: .origin).word == "fail")
        channel = live()
        #expect(channel.read(refusal, at: .origin).word == "fail")
        _ = channel.read(gap, at: .origin)
        #expect(channel.read(refusal, isOld: true, at: .origin).word == "fail")
    }
}

extension FollowedChannel.Reaction {
    fileprivate var word: String {
        switch self {
        case .nothing: "nothing"
        case .give(let event): "give \(event.data ?? "")"
        case .hold: "hold"
        case .fail: "fail"
        case .load: "load"
        }
    }
}

@Suite struct LoadsTests {
    @Test func `Loads begin in order, a few at a time, and each that ends makes room for the next`() {
        let loads = Loads(limit: 2)
        let begun = Locked<[Int]>([])
        for number in 1...4 {
            loads.add {
                begun.withLock { $0.append(number) }
                return true
            }
        }
        #expect(begun.withLock { $0 } == [1, 2])
        loads.ended()
        #expect(begun.withLock { $0 } == [1, 2, 3])
        loads.ended()
        loads.ended()
        loads.ended()
        #expect(begun.withLock { $0 } == [1, 2, 3, 4])
    }

    @Test(arguments: [1, 0]) func `A load that is no longer wanted takes no place, and there is always one`(limit: Int) {
        let loads = Loads(limit: limit)
        let begun = Locked(0)
        for _ in 0..<1000 { loads.add { false } }
        loads.add {
            begun.withLock { $0 += 1 }
            return true
        }
        #expect(begun.withLock { $0 } == 1)
    }

    @Test func `At most 16 MiB are held for all channels together`() {
        let loads = Loads(limit: 8)
        for _ in 0..<16 { #expect(loads.hold(1 << 20)) }
        #expect(!loads.hold(1))
        loads.release(1 << 20)
        #expect(loads.hold(1 << 20))
        #expect(!loads.hold(1))
    }
}
