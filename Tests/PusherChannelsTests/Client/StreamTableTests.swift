import Foundation
import Testing

@testable import PusherChannels

/// The streams of a client: each gets its own events, and nothing is kept for streams that are gone.
@Suite struct StreamTableTests {
    private func event(_ channel: Name?, _ name: Name) -> PusherEvent {
        PusherEvent(envelope: Envelope(event: name, channel: channel), decoder: nil)
    }

    private func waiting(_ table: inout StreamTable<PusherEvent>, _ id: Int) -> [String] {
        table.change(id) { queue in
            var batch = queue.take()
            var names: [String] = []
            while let event = batch?.elements.popFirst() { names.append(event.eventName) }
            return names
        } ?? []
    }

    private func table() -> StreamTable<PusherEvent> { StreamTable(of: "events") { _ in 1 } }

    @Test func nothingIsKeptOfStreamsThatAreGone() {
        var table = table()
        for number in 0..<100 {
            table.add(3 * number, for: .init(channel: "room-\(number)"), StreamBuffering())
            table.add(3 * number + 1, for: .init(channel: "room-\(number)", event: "a"), StreamBuffering())
            table.add(3 * number + 2, for: .init(), StreamBuffering())
        }
        #expect(!table.isEmpty)
        for id in 0..<300 { #expect(table.remove(id) != nil) }
        #expect(table.isEmpty)
        #expect(table.topicsKept == 0)
    }

    @Test func eachGetsWhatItIsFor() {
        var table = table()
        table.add(1, for: .init(), StreamBuffering())
        table.add(2, for: .init(channel: "room"), StreamBuffering())
        table.add(3, for: .init(channel: "room", event: "a"), StreamBuffering())
        for (channel, name) in [("room", "a"), ("room", "b"), ("other", "a"), (nil, "c")] as [(Name?, Name)] {
            _ = table.append(event(channel, name), of: channel, name, at: .origin)
        }
        #expect(waiting(&table, 1) == ["a", "b", "a", "c"])
        #expect(waiting(&table, 2) == ["a", "b"])
        #expect(waiting(&table, 3) == ["a"])
    }

    @Test func whoIsThereIsLookedUpAgainWhenStreamsComeAndGo() {
        var table = table()
        func publish() -> Bool { table.append(event("room", "a"), of: "room", "a", at: .origin) }
        #expect(!publish())
        table.add(1, for: .init(channel: "room"), StreamBuffering())
        #expect(publish())
        #expect(waiting(&table, 1) == ["a"])
        _ = table.remove(1)
        #expect(!publish())
    }

    @Test func theServerWaitsForAsManyAsAreOver() {
        var table = table()
        table.add(1, for: .init(), StreamBuffering(limit: 2))
        table.add(2, for: .init(), StreamBuffering(limit: 1))
        _ = table.append(event(nil, "a"), of: nil, "a", at: .origin)
        #expect(table.over == 1)
        _ = table.append(event(nil, "b"), of: nil, "b", at: .origin)
        #expect(table.over == 2)
        _ = table.remove(2)
        #expect(table.over == 1)
        table.finish(nil)
        #expect(table.over == 0)
    }

    @Test func theServerWaitsForStreamsOfEveryKind() {
        var streams = Streams { _ in Date(timeIntervalSince1970: 0) }
        streams.add(1, to: \.events, for: .init(), StreamBuffering(limit: 1))
        streams.add(2, to: \.states, for: .init(), StreamBuffering(limit: 1))
        streams.add(3, to: \.updates, for: .init(channel: "room"), StreamBuffering(limit: 1))
        streams.add(4, to: \.poolUpdates, for: .init(), StreamBuffering(limit: 1))
        _ = streams.append(.event(Envelope(event: "a", channel: nil)), nil, at: .origin)
        _ = streams.append(.stateChanged(from: .disconnected, to: .connecting), nil, at: .origin)
        #expect(streams.over == 2)
        _ = streams.append(.subscribed(channel: "room"), nil, at: .origin)
        #expect(streams.over == 4)
    }
}
