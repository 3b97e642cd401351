import Testing

@testable import PusherChannels

/// The gaps in a stream of numbers that is too full, as a value. A number comes at the second of the same number.
@Suite struct StreamGapTests {
    private func queue(_ overflow: StreamBuffering.Overflow) -> StreamQueue<String> {
        StreamQueue(
            StreamBuffering(limit: 3, overflow: overflow), size: { _ in 0 },
            gapElement: { "gap \(Int($0.sinceOrigin / .seconds(1)))" })
    }

    private func append(_ numbers: some Sequence<Int>, to queue: inout StreamQueue<String>) {
        for number in numbers { queue.append("\(number)", at: .origin + .seconds(number)) }
    }

    private func read(_ queue: inout StreamQueue<String>) -> [String] {
        var elements: [String] = []
        while let batch = queue.take(), !batch.elements.isEmpty {
            elements += batch.elements
            queue.wasRead(batch.elements, bytes: batch.bytes)
        }
        return elements
    }

    @Test(arguments: [
        (
            StreamBuffering.Overflow.dropOldest, [1...7, 8...9, 10...13],
            [["gap 1", "5", "6", "7"], ["8", "9"], ["gap 10", "11", "12", "13"]], 5
        ),
        (.dropNewest, [1...7, 8...12], [["1", "2", "3", "gap 4"], ["8", "9", "10", "gap 11"]], 6),
    ])
    func `A stream that drops elements gives one gap in their place, before or after those that are left`(
        overflow: StreamBuffering.Overflow, numbers: [ClosedRange<Int>], elements: [[String]], dropped: Int
    ) {
        var queue = queue(overflow)
        let seen = numbers.map { numbers in
            append(numbers, to: &queue)
            return read(&queue)
        }
        #expect(seen == elements && queue.dropped == dropped)
    }

    @Test(arguments: [
        (1...3, "1", true, 4...6, ["gap 2", "4", "5", "6"]), (1...3, "1", false, 4...4, ["gap 1", "2", "3", "4"]),
        (1...7, "gap 1", false, 8...8, ["gap 1", "6", "7", "8"]),
    ])
    func `A gap begins after the element that a reader has read, but before one that it puts back`(
        first: ClosedRange<Int>, taken: String, isRead: Bool, later: ClosedRange<Int>, elements: [String]
    ) {
        var queue = queue(.dropOldest)
        append(first, to: &queue)
        #expect(queue.take()?.elements == [taken])
        if isRead { queue.wasRead([taken], bytes: 0) } else { queue.putBack([taken], bytes: 0) }
        append(later, to: &queue)
        #expect(read(&queue) == elements)
    }

    @Test func `Dropping an element older than the current gap begins another gap`() {
        var queue = queue(.dropNewest)
        append([1, 2, 3, 10, 4, 4, 11, 2], to: &queue)
        #expect(read(&queue).dropFirst(3) == ["gap 10", "gap 4", "gap 2"])
        #expect(queue.dropped == 5)
    }

    @Test func `Past the pause limit, a pausing stream drops new elements and gives a gap after the others`() {
        var queue = queue(.pauseThenDrop)
        append(1...5, to: &queue)
        let wasLate = queue.pauseLimitReached("the stream")
        #expect(wasLate)
        append(6...7, to: &queue)
        #expect(read(&queue) == ["1", "2", "3", "4", "5", "gap 6"])
        append(8...8, to: &queue)
        #expect(read(&queue) == ["8"])
    }

    /// One reader may have acted on the gap before another has made room.
    @Test func `A loss after a reader took the gap begins another gap`() {
        var queue = queue(.dropNewest)
        queue.iterators = 1
        append(1...3, to: &queue)
        #expect(queue.take()?.elements.count == 3)
        queue.iterators = 2
        append(4...5, to: &queue)
        #expect(queue.take()?.elements == ["gap 4"])
        append(6...7, to: &queue)
        #expect(queue.take()?.elements == ["gap 6"])
        #expect(queue.dropped == 4)
    }

    @Test func `A sole reader that takes all elements at once also takes the gap behind them`() throws {
        var queue = queue(.dropNewest)
        queue.iterators = 1
        append(1...4, to: &queue)
        let taken = queue.take()
        let batch = try #require(taken)
        #expect(batch.elements == ["1", "2", "3", "gap 4"])
        queue.wasRead(batch.elements, bytes: 0)
        append(5...7, to: &queue)
        #expect(queue.dropped == 1, "there is room again")
    }
}
