import Testing

@testable import PusherChannels

@Suite struct StreamGapTests {
    private enum Element: Equatable {
        case number(Int)
        case gap(Instant)
    }

    private func queue(_ overflow: StreamBuffering.Overflow, limit: Int = 3) -> StreamQueue<Element> {
        StreamQueue(StreamBuffering(limit: limit, overflow: overflow), size: { _ in 0 }, gapElement: { .gap($0) })
    }

    private func time(_ number: Int) -> Instant { .origin + .seconds(number) }

    /// Appends each number at the second of the same number.
    private func append(_ numbers: ClosedRange<Int>, to queue: inout StreamQueue<Element>) {
        for number in numbers { queue.append(.number(number), at: time(number)) }
    }

    private func read(_ queue: inout StreamQueue<Element>) -> [Element] {
        var elements: [Element] = []
        while let batch = queue.take(), !batch.elements.isEmpty {
            elements += batch.elements
            queue.wasRead(batch.elements, bytes: batch.bytes)
        }
        return elements
    }

    @Test func `A stream that drops the oldest elements gives one gap before the elements that are left`() {
        var queue = queue(.dropOldest)
        append(1...7, to: &queue)
        #expect(read(&queue) == [.gap(time(1)), .number(5), .number(6), .number(7)])
        append(8...9, to: &queue)
        #expect(read(&queue) == [.number(8), .number(9)], "it is told once")
        append(10...13, to: &queue)
        #expect(read(&queue) == [.gap(time(10)), .number(11), .number(12), .number(13)])
        #expect(queue.dropped == 5)
    }

    @Test func `A gap begins after the elements that were already read`() {
        var queue = queue(.dropOldest)
        append(1...3, to: &queue)
        #expect(queue.take()?.elements == [.number(1)])
        queue.wasRead([.number(1)], bytes: 0)
        append(4...6, to: &queue)
        #expect(read(&queue) == [.gap(time(2)), .number(4), .number(5), .number(6)])
    }

    @Test func `A gap that a reader puts back takes in elements that are dropped later`() {
        var queue = queue(.dropOldest)
        append(1...7, to: &queue)
        #expect(queue.take()?.elements == [.gap(time(1))])
        queue.putBack([.gap(time(1))], bytes: 0)
        append(8...8, to: &queue)
        #expect(read(&queue) == [.gap(time(1)), .number(6), .number(7), .number(8)])
    }

    @Test func `An element that a reader puts back can still be dropped and then begins the gap`() {
        var queue = queue(.dropOldest)
        append(1...3, to: &queue)
        #expect(queue.take()?.elements == [.number(1)])
        queue.putBack([.number(1)], bytes: 0)
        append(4...4, to: &queue)
        #expect(read(&queue) == [.gap(time(1)), .number(2), .number(3), .number(4)])
    }

    @Test func `A stream that drops the newest elements gives one gap after the elements that are kept`() {
        var queue = queue(.dropNewest)
        append(1...7, to: &queue)
        #expect(read(&queue) == [.number(1), .number(2), .number(3), .gap(time(4))])
        append(8...12, to: &queue)
        #expect(read(&queue) == [.number(8), .number(9), .number(10), .gap(time(11))])
        #expect(queue.dropped == 6)
    }

    @Test func `Dropping an element older than the current gap begins another gap`() {
        var queue = queue(.dropNewest)
        append(1...3, to: &queue)
        for second in [10, 4, 4, 11, 2] { queue.append(.number(second), at: time(second)) }
        #expect(read(&queue).dropFirst(3) == [.gap(time(10)), .gap(time(4)), .gap(time(2))])
        #expect(queue.dropped == 5)
    }

    @Test func `Past the pause limit, a pausing stream drops new elements and gives a gap after the others`() {
        var queue = queue(.pauseThenDrop)
        append(1...5, to: &queue)
        let wasLate = queue.pauseLimitReached("the stream")
        #expect(wasLate)
        append(6...7, to: &queue)
        #expect(read(&queue) == [.number(1), .number(2), .number(3), .number(4), .number(5), .gap(time(6))])
        append(8...8, to: &queue)
        #expect(read(&queue) == [.number(8)])
    }

    /// One reader may have acted on the gap before another has made room.
    @Test func `A loss after a reader took the gap begins another gap`() {
        var queue = queue(.dropNewest)
        queue.iterators = 1
        append(1...3, to: &queue)
        #expect(queue.take()?.elements.count == 3)
        queue.iterators = 2
        append(4...5, to: &queue)
        #expect(queue.take()?.elements == [.gap(time(4))])
        append(6...7, to: &queue)
        #expect(queue.take()?.elements == [.gap(time(6))])
        #expect(queue.dropped == 4)
    }

    @Test func `A sole reader that takes all elements at once also takes the gap behind them`() {
        var queue = queue(.dropNewest)
        queue.iterators = 1
        append(1...4, to: &queue)
        #expect(queue.take()?.elements == [.number(1), .number(2), .number(3), .gap(time(4))])
        queue.wasRead([.number(1), .number(2), .number(3), .gap(time(4))], bytes: 0)
        append(5...7, to: &queue)
        #expect(queue.dropped == 1, "there is room again")
    }
}
