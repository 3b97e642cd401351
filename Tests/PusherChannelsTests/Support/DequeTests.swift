import Processes
import TestSupport
import Testing

@testable import PusherChannels

@Suite struct DequeTests {
    @Test func `What came first is taken first, however many came and went`() {
        var random = SplitMix64(seed: 3)
        var (queue, expected, next) = (Deque<Int>(), ArraySlice<Int>(), 0)
        for _ in 0..<20_000 {
            if Bool.random(using: &random) || next < 200 {
                queue.append(next)
                expected.append(next)
                next += 1
            } else {
                #expect(queue.popFirst() == expected.popFirst())
            }
            #expect(queue.count == expected.count && queue.first == expected.first && queue.isEmpty == expected.isEmpty)
        }
        while let taken = queue.popFirst() { #expect(taken == expected.popFirst()) }
        #expect(expected.isEmpty)
        #expect(queue.popFirst() == nil)
    }

    @Test func `What was taken is not kept`() {
        let hasEnded = Locked(false)
        var queue = Deque<AtItsEnd>()
        queue.append(contentsOf: [AtItsEnd { hasEnded.withLock { $0 = true } }, AtItsEnd {}])
        _ = queue.popFirst()
        #expect(hasEnded.withLock { $0 })
        #expect(queue.count == 1)
    }

    @Test func `The last takes the place of one that is taken from the middle`() {
        var queue = Deque<Int>()
        queue.append(contentsOf: 0..<5)
        queue.popFirst()
        #expect(queue.remove(swappingLastInto: 1) == 2)
        #expect(queue.remove(swappingLastInto: 3) == nil)
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst(), queue.popFirst()] == [1, 4, 3, nil])
    }

    @Test func `What is put first is taken first`() {
        var queue = Deque<Int>()
        queue.prepend(1)
        queue.prepend(0)
        queue.append(2)
        #expect(queue.popFirst() == 0)
        queue.prepend(7)
        #expect(Array(queue) == [7, 1, 2])
    }

    @Test func `Queues are the same that have the same to give`() {
        var (left, right) = (Deque<Int>(), Deque<Int>())
        left.append(contentsOf: [0, 1, 2])
        left.popFirst()
        right.append(contentsOf: [1, 2])
        #expect(left == right)
        right.popFirst()
        #expect(left != right)
    }
}
