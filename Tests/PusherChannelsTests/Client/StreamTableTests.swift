import TestSupport
import Testing

@testable import PusherChannels

@Suite struct StreamTableTests {
    private func append(_ name: Name, of channel: Name? = nil, to table: inout StreamTable<PusherEvent>) {
        let event = PusherEvent(envelope: Envelope(event: name, channel: channel), decoder: nil)
        _ = table.append(event, of: channel, name, at: .origin)
    }

    private func waiting(_ table: inout StreamTable<PusherEvent>, _ id: Int) -> [String] {
        table.change(id) { queue in queue.take()?.elements.map(\.eventName) ?? [] } ?? []
    }

    private func table() -> StreamTable<PusherEvent> { StreamTable(of: "events") { _ in 1 } }

    @Test func `A stream table keeps nothing of streams that were removed`() {
        var table = table()
        for number in 0..<100 {
            table.add(3 * number, for: .init(channel: "room-\(number)"), StreamBuffering())
            table.add(3 * number + 1, for: .init(channel: "room-\(number)", event: "a"), StreamBuffering())
            table.add(3 * number + 2, for: .init(), StreamBuffering())
        }
        #expect(!table.isEmpty)
        for id in 0..<300 { #expect(table.remove(id) != nil) }
        #expect(table.isEmpty && table.topicsKept == 0)
    }

    @Test func `A stream gets the events of its channel and name, or all events if it has neither`() {
        var table = table()
        table.add(1, for: .init(), StreamBuffering())
        table.add(2, for: .init(channel: "room"), StreamBuffering())
        table.add(3, for: .init(channel: "room", event: "a"), StreamBuffering())
        for (channel, name) in [("room", "a"), ("room", "b"), ("other", "a"), (nil, "c")] as [(Name?, Name)] {
            append(name, of: channel, to: &table)
        }
        #expect(waiting(&table, 1) == ["a", "b", "a", "c"])
        #expect(waiting(&table, 2) == ["a", "b"])
        #expect(waiting(&table, 3) == ["a"])
    }

    @Test func `A stream's unread time begins with the oldest element that was taken last`() {
        var queue = StreamQueue<Int>(StreamBuffering()) { _ in 1 }
        for second in [1, 10] {
            queue.append(second, at: .origin + .seconds(second))
            queue.wasRead(queue.take()?.elements ?? [], bytes: 1)
        }
        #expect(queue.unreadSince == .origin + .seconds(10))
    }

    @Test func `A stream table counts the elements that its streams dropped`() {
        var table = table()
        table.add(1, for: .init(), StreamBuffering(limit: 1, overflow: .dropOldest))
        table.add(2, for: .init(), StreamBuffering(limit: 2, overflow: .dropNewest))
        for name in ["a", "b", "c"] as [Name] { append(name, of: "room", to: &table) }
        #expect(table.dropped == 3)
    }

    @Test func `The count of full streams follows each stream that fills, is removed, or finishes`() {
        var table = table()
        table.add(1, for: .init(), StreamBuffering(limit: 2))
        table.add(2, for: .init(), StreamBuffering(limit: 1))
        var over: [Int] = []
        for name in ["a", "b"] as [Name] {
            append(name, to: &table)
            over.append(table.over)
        }
        _ = table.remove(2)
        over.append(table.over)
        table.finish(nil)
        #expect(over + [table.over] == [1, 2, 1, 0])
    }
}

@Suite struct StreamQueueTests {
    private func queue(_ elements: Int...) -> StreamQueue<Int> {
        var queue = StreamQueue<Int>(StreamBuffering()) { $0 }
        for element in elements { queue.append(element, at: .origin) }
        return queue
    }

    @Test func `Elements that are put back are taken again first, with their bytes`() throws {
        var queue = queue(3, 4)
        let taken = queue.take()
        let batch = try #require(taken)
        #expect(batch.bytes == 7)
        queue.wasRead(batch.elements.prefix(1), bytes: 3)
        queue.putBack(batch.elements.dropFirst(), bytes: 4)
        queue.append(5, at: .origin)
        let next = queue.take()
        #expect(next.map { Array($0.elements) } == [4, 5])
        #expect(next?.bytes == 9)
    }

    /// A pool takes another batch where a client's next ones must come later, and a second loop takes what the first one leaves.
    @Test(arguments: [false, true])
    func `What was taken and not read keeps its time while more is taken`(isPutBack: Bool) throws {
        var queue = queue(3, 4)
        queue.isTakenAhead = !isPutBack
        let taken = queue.take()
        let batch = try #require(taken)
        for seconds in [5, 9] {
            queue.append(5, at: .origin + .seconds(seconds))
            _ = queue.take()
        }
        if isPutBack { queue.putBack(batch.elements, bytes: batch.bytes) }
        #expect(queue.unreadSince == .origin)
    }

    @Test func `Only a sole reader takes all waiting elements at once`() {
        var queue = queue(1, 2, 3)
        queue.iterators = 2
        let one = queue.take()
        queue.iterators = 1
        let rest = queue.take()
        #expect([one, rest].map { $0?.elements.count } == [1, 2])
    }

    @Test func `An iterator that is released no longer counts as a reader`() throws {
        let stream = ClientRig.connected().pusher.events
        let source = try #require(stream.source as? StreamSource<PusherEvent>)
        for _ in 0..<3 { _ = stream.makeAsyncIterator() }
        #expect(source.change { $0.iterators } == 0)
        let iterator = stream.makeAsyncIterator()
        #expect(source.change { $0.iterators } == 1)
        withExtendedLifetime(iterator) {}
    }
}
