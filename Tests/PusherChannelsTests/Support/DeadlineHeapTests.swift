import TestSupport
import Testing

@testable import PusherChannels

@Suite struct DeadlineHeapTests {
    @Test func comesInOrderAlsoAfterMostWereTakenOut() {
        var random = SplitMix64(seed: 7)
        var heap = DeadlineHeap<Int>()
        for key in 0..<500 { heap.insert(key, at: .milliseconds(Int.random(in: 0..<1000, using: &random))) }
        heap.filter { $0 % 5 == 0 }
        #expect(heap.count == 100)
        for key in 500..<600 { heap.insert(key, at: .milliseconds(Int.random(in: 0..<1000, using: &random))) }
        var (keys, last): (Set<Int>, Instant) = ([], .origin)
        while let (deadline, key) = heap.first {
            #expect(deadline >= last)
            (last, _) = (deadline, keys.insert(key))
            #expect(heap.removeFirst() == key)
        }
        let expected = Set((0..<600).filter { $0 >= 500 || $0 % 5 == 0 })
        #expect(keys == expected)
    }

    @Test func `Of several for one time the oldest comes first`() {
        var heap = DeadlineHeap<Int>()
        for key in 0..<20 { heap.insert(key, at: .seconds(key < 10 ? 2 : 1)) }
        heap.filter { $0 != 3 }
        let expected = Array(10..<20) + [0, 1, 2, 4, 5, 6, 7, 8, 9]
        #expect(heap.keys == expected)
        #expect(expected.allSatisfy { heap.removeFirst() == $0 })
    }
}
