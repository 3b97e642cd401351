import Foundation
import Testing

@testable import PusherChannels

/// When a followed channel's state is loaded, and what becomes of its events meanwhile.
@Suite struct FollowedChannelTests {
    private var random = SplitMix64(seed: 1)

    private func event(_ data: String) -> ChannelUpdate {
        .event(PusherEvent(envelope: Envelope(event: "n", channel: "orders", data: data), decoder: nil))
    }

    private func gap(_ reason: EventGap.Reason = .reconnected) -> ChannelUpdate {
        .eventsMayBeMissing(EventGap(since: .distantPast, reason: reason))
    }

    private func loading(_ buffering: StreamBuffering = StreamBuffering()) -> FollowedChannel {
        var channel = FollowedChannel(buffering)
        _ = channel.read(.subscribed, at: .origin)
        _ = channel.begin(1)
        return channel
    }

    private func live() -> FollowedChannel {
        var channel = loading()
        _ = channel.loaded(1, at: .origin)
        return channel
    }

    @Test mutating func `A load begins after the subscription, and events are held from its start on`() {
        var channel = FollowedChannel(StreamBuffering())
        #expect(channel.told(event("0"), .subscribed) == ["nothing", "load"])
        #expect(channel.delay(of: "orders", at: .origin, using: &random).0 == .zero)
        #expect(channel.told(event("1")) == ["nothing"])
        #expect(channel.begin(1) == true)
        #expect(channel.told(event("2")) == ["hold"])
        #expect(channel.given(1) == ["first", "2"])
        #expect(channel.told(event("3")) == ["give 3"])
    }

    @Test func `A gap during a load causes one more load and drops the held events`() {
        var channel = loading()
        #expect(channel.told(event("1"), gap(), gap(), event("2")) == ["hold", "nothing", "nothing", "nothing"])
        #expect(channel.heldBytes == 0)
        #expect(channel.given(1) == ["first"])
        #expect(!channel.isLive && channel.load == 2)
        #expect(channel.begin(2) == true)
        #expect(channel.given(2) == ["reconnected"])
        #expect(channel.isLive)
    }

    // Proves P19.6.
    @Test func `A channel that recovered all missed events isn't loaded again`() {
        var channel = live()
        let replay = channel.told(event("1"), .recovered(count: 1), .subscribed)
        #expect(replay == ["give 1", "nothing", "nothing"])
        #expect(channel.told(event("2"), .subscribed) == ["give 2", "load"], "the next success is another matter")
    }

    @Test func `Events and gaps taken before a load began are covered by the load`() {
        var channel = live()
        #expect(channel.told(gap(), event("1"), gap(), isOld: true) == ["load", "nothing", "nothing"])
        _ = channel.begin(2)
        #expect(channel.told(event("2"), isOld: true) == ["nothing"])
        #expect(channel.given(2) == ["reconnected"])
        #expect(channel.isLive)
    }

    @Test mutating func `A failed load is tried again with growing delays, until one succeeds`() {
        var channel = live()
        let later = Instant.origin + .seconds(100)
        _ = channel.read(gap(), at: later)
        #expect(channel.delay(of: "orders", at: later, using: &random).0 == .zero)
        var longest: [Duration] = []
        for load in 2..<12 {
            #expect(channel.begin(load) == true)
            #expect(channel.givenBack(load)?.isEmpty == true)
            let delays = (0..<200).map { _ in channel.delay(of: "orders", at: later, using: &random) }
            #expect(delays.allSatisfy { $0.1 == nil })
            longest.append(delays.map(\.0).max() ?? .zero)
        }
        #expect(longest[0] < .seconds(1) && longest[1] > .seconds(1) && longest[9] > .seconds(32) && longest[9] <= .seconds(60))
        _ = channel.begin(12)
        _ = channel.loaded(12, at: later)
        _ = channel.read(gap(), at: later + .seconds(61))
        #expect(channel.delay(of: "orders", at: later + .seconds(61), using: &random).0 == .zero)
    }

    @Test mutating func `Loads within a minute of each other are postponed, and the reason is reported`() {
        var channel = live()
        var now = Instant.origin
        var told: [PusherError?] = []
        for load in 2..<6 {
            now = now + .seconds(30)
            #expect(channel.told(gap(), at: now) == ["load"])
            told.append(channel.delay(of: "orders", at: now, using: &random).1)
            _ = channel.begin(load)
            _ = channel.loaded(load, at: now)
        }
        #expect(told.allSatisfy { $0?.kind == .loadPostponed })
        #expect(told[0]?.message.contains("(reconnected), after 30.000s") == true)
        now = now + .seconds(60)
        _ = channel.read(gap(), at: now)
        #expect(channel.delay(of: "orders", at: now, using: &random).1 == nil)
    }

    @Test func `Several reloads cause one load, and one more if a load is under way`() {
        var channel = FollowedChannel(StreamBuffering())
        let before = [LoadReason.reload, .first, .reload].map { channel.reload($0, at: .origin).word }
        #expect(before == ["nothing", "load", "nothing"])
        _ = channel.begin(1)
        #expect(channel.reload(.reload, at: .origin).word == "nothing")
        _ = channel.loaded(1, at: .origin)
        #expect(channel.load == 2 && !channel.isLive)
    }

    @Test mutating func `A state that is only too old takes events until it is loaded again, and what a failed load held`() {
        var channel = live()
        #expect(channel.reload(.maximumAge, at: .origin).word == "load")
        #expect(channel.delay(of: "orders", at: .origin, using: &random).0 == .zero, "it isn't a repetition")
        #expect(channel.told(event("1")) == ["give 1"])
        _ = channel.begin(2)
        #expect(channel.told(event("2")) == ["hold"])
        #expect(channel.told(event("before"), isOld: true) == ["give before"])
        #expect(channel.reload(.maximumAge, at: .origin).word == "nothing")
        #expect(channel.givenBack(2) == ["2"])
        #expect(channel.heldBytes == 0)
        #expect(channel.told(event("3")) == ["give 3"])
        _ = channel.begin(3)
        #expect(channel.told(event("4")) == ["hold"])
        #expect(channel.given(3) == ["maximum age", "4"])
        #expect(channel.isLive)
    }

    @Test(arguments: [false, true])
    func `A state that is too old and misses events takes none, also if its load fails`(isLoading: Bool) {
        var channel = live()
        _ = channel.reload(.maximumAge, at: .origin)
        if isLoading {
            _ = channel.begin(2)
            _ = channel.told(event("1"))
        }
        #expect(channel.told(gap(), event("2")) == ["nothing", "nothing"])
        _ = channel.begin(2)
        #expect(channel.givenBack(2)?.isEmpty == true)
        #expect(channel.told(event("3")) == ["nothing"])
        _ = channel.begin(3)
        #expect(channel.given(3) == ["reconnected"])
        #expect(channel.isLive)
    }

    @Test func `An answer to an older load changes nothing`() {
        var channel = live()
        #expect(channel.given(1) == nil)
        _ = channel.read(gap(), at: .origin)
        #expect(channel.begin(1) == false)
        #expect(channel.given(2) == nil, "it hasn't begun")
        let begun = [channel.begin(2), channel.begin(2)]
        #expect(begun == [true, false])
        let failed = [channel.givenBack(1), channel.givenBack(2)].map { $0 != nil }
        #expect(failed == [false, true])
    }

    @Test func `A channel notices when it holds more events or bytes than its buffering allows`() {
        var channel = loading(StreamBuffering(limit: 2))
        for data in ["1", "2"] { _ = channel.told(event(data)) }
        #expect(!channel.holdsTooMuch)
        _ = channel.told(event("3"))
        #expect(channel.holdsTooMuch)
        let size = channel.heldBytes
        var full = loading(StreamBuffering(byteLimit: size))
        for data in ["1", "2", "3"] { _ = full.told(event(data)) }
        #expect(full.heldBytes == size && !full.holdsTooMuch)
        _ = full.told(event("4"))
        #expect(full.holdsTooMuch)
    }

    @Test func `A channel subscribed again without a gap is loaded again, and a gap is the better reason`() {
        var channel = live()
        #expect(channel.told(.subscribed, gap()) == ["load", "nothing"])
        _ = channel.begin(2)
        #expect(channel.given(2) == ["reconnected"])
        #expect(channel.told(.subscribed) == ["load"])
        _ = channel.begin(3)
        #expect(channel.given(3) == ["subscribed again"])
    }

    @Test func `An old gap of an overflow causes a load, and a gap between streams causes none`() {
        var channel = live()
        _ = channel.told(gap(), isOld: true)
        _ = channel.begin(2)
        _ = channel.told(gap(.overflow), isOld: true)
        _ = channel.loaded(2, at: .origin)
        #expect(channel.load == 3 && !channel.isLive)
        channel = live()
        #expect(channel.told(gap(.betweenStreams)) == ["nothing"])
    }

    @Test func `A channel whose success may have been dropped is loaded, and once more if it wasn't dropped`() {
        var channel = FollowedChannel(StreamBuffering(limit: 1))
        #expect(channel.told(gap(), gap(.overflow)) == ["nothing", "load"])
        _ = channel.begin(1)
        #expect(channel.told(.subscribed) == ["nothing"])
        #expect(channel.given(1) == ["first"])
        #expect(channel.load == 2 && !channel.isLive)
        channel = FollowedChannel(StreamBuffering())
        #expect(channel.reload(.gap(EventGap(since: .distantPast, reason: .overflow)), at: .origin).word == "load")
    }

    @Test mutating func `A channel whose loop goes on elsewhere keeps its delays between loads`() {
        var channel = live()
        _ = channel.told(gap())
        _ = channel.begin(2)
        _ = channel.told(event("1"))
        channel = channel.interrupted
        #expect(!channel.isLive && !channel.isBeingRepaired && channel.heldBytes == 0)
        #expect(channel.reload(.gap(EventGap(since: .distantPast, reason: .overflow)), at: .origin).word == "load")
        #expect(channel.delay(of: "orders", at: .origin, using: &random).1?.kind == .loadPostponed)
    }

    @Test func `A channel whose loop goes on elsewhere is loaded, though its connection recovered all events`() {
        var channel = live()
        _ = channel.told(.recovered(count: 1))
        channel = channel.interrupted
        #expect(channel.told(gap(.betweenStreams), .recovered(count: 0), .subscribed) == ["nothing", "nothing", "load"])
        _ = channel.begin(2)
        #expect(channel.given(2) == ["subscribed again"])
        channel = channel.interrupted
        #expect(channel.told(.subscribed, gap()) == ["load", "nothing"])
        _ = channel.begin(3)
        #expect(channel.given(3) == ["reconnected"], "a gap says more")
    }

    @Test func `A load that is given up before it begins is wanted again after the next success`() {
        var channel = live()
        _ = channel.told(gap())
        let givenUp = [channel.giveUp(1), channel.giveUp(2), channel.giveUp(2)]
        #expect(givenUp == [false, true, false])
        #expect(!channel.isBeingRepaired && !channel.isLive)
        #expect(channel.begin(2) == false)
        #expect(channel.told(event("1"), .subscribed) == ["nothing", "load"])
        _ = channel.begin(3)
        #expect(channel.giveUp(3) == false, "it has begun")
        #expect(channel.given(3) == ["subscribed again"])
    }

    @Test func `A refusal is reported in every phase of a followed channel`() {
        let refusal = ChannelUpdate.subscriptionFailed(PusherError(.subscriptionRefused, message: "no"))
        var channel = FollowedChannel(StreamBuffering())
        #expect(channel.told(refusal) == ["fail"])
        channel = live()
        #expect(channel.told(refusal, gap()) == ["fail", "load"])
        #expect(channel.told(refusal, isOld: true) == ["fail"])
    }
}

extension FollowedChannel {
    /// Reads updates, and returns what is to be done about each.
    fileprivate mutating func told(_ updates: ChannelUpdate..., isOld: Bool = false, at now: Instant = .origin) -> [String] {
        var words: [String] = []
        for update in updates { words.append(read(update, isOld: isOld, at: now).word) }
        return words
    }

    /// Ends a load, and returns its reason and the data of the events that were held.
    fileprivate mutating func given(_ load: Int) -> [String]? {
        loaded(load, at: .origin).map { ["\($0.reason)"] + $0.held.map { $0.data ?? "" } }
    }

    /// Ends a load without a state, and returns the data of the events that were held and are given.
    fileprivate mutating func givenBack(_ load: Int) -> [String]? {
        failed(load, at: .origin)?.map { $0.data ?? "" }
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
        for count in [3, 4, 4, 4] {
            loads.ended()
            #expect(begun.withLock { $0 } == Array(1...count))
        }
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
