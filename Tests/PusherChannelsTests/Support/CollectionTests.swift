import Processes
import TestSupport
import Testing

@testable import PusherChannels

@Suite struct DequeTests {
    @Test func `A deque gives its elements in order, however many were added and taken`() {
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

    @Test func `A deque doesn't keep an element that was taken`() {
        let hasEnded = Locked(false)
        var queue = Deque<AtItsEnd>()
        queue.append(contentsOf: [AtItsEnd { hasEnded.withLock { $0 = true } }, AtItsEnd {}])
        _ = queue.popFirst()
        #expect(hasEnded.withLock { $0 })
        #expect(queue.count == 1)
    }

    @Test func `Removing a deque's element from the middle moves the last one into its place`() {
        var queue = Deque<Int>()
        queue.append(contentsOf: 0..<5)
        queue.popFirst()
        #expect(queue.remove(swappingLastInto: 1) == 2)
        #expect(queue.remove(swappingLastInto: 3) == nil)
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst(), queue.popFirst()] == [1, 4, 3, nil])
    }
}

@Suite struct DeadlineHeapTests {
    @Test func `A heap gives its deadlines in order, even after most were filtered out`() {
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

    @Test func `Of several keys with the same deadline, a heap gives the oldest first`() {
        var heap = DeadlineHeap<Int>()
        for key in 0..<20 { heap.insert(key, at: .seconds(key < 10 ? 2 : 1)) }
        heap.filter { $0 != 3 }
        let expected = Array(10..<20) + [0, 1, 2, 4, 5, 6, 7, 8, 9]
        #expect(heap.keys == expected)
        #expect(expected.allSatisfy { heap.removeFirst() == $0 })
    }
}

@Suite struct WeakTests {
    /// An entry that hands its last reference to the code that reads it.
    private struct LastReference: WeakEntry {
        let reference: Locked<AtItsEnd?>

        var object: AtItsEnd? { reference.withLock { $0.take() } }
    }

    @Test func `Weak entries whose objects are gone are removed from their list`() {
        let object = AtItsEnd {}
        var entries = [Weak(nil), Weak(object), Weak(nil)]
        #expect(entries.removeGone().count == 1)
        #expect(entries.count == 1 && entries.first?.object === object)
    }

    @Test func `An object whose last reference a weak list finds isn't released before the caller is done`() {
        let (isLocked, endedUnderLock) = (Locked(true), Locked<Bool?>(nil))
        var entries = [LastReference(reference: Locked(AtItsEnd { endedUnderLock.withLock { $0 = isLocked.withLock { $0 } } }))]
        do {
            let objects = entries.removeGone()
            isLocked.withLock { $0 = false }
            withExtendedLifetime(objects) {}
        }
        #expect(endedUnderLock.withLock { $0 } == false)
    }
}

@Suite struct ByteQueueTests {
    @Test func `A byte queue gives its bytes in order, however few are taken at a time`() {
        var queue = ByteQueue()
        var generator = SplitMix64(seed: 7)
        var (put, taken): ([UInt8], [UInt8]) = ([], [])
        for round in 0..<3000 {
            let more = [UInt8](repeating: UInt8(round & 0xFF), count: Int.random(in: 0..<100, using: &generator))
            queue.bytes.append(contentsOf: more)
            put += more
            let room = Int.random(in: 0..<100, using: &generator)
            queue.write { bytes in
                taken += bytes.prefix(room)
                return min(room, bytes.count)
            }
            #expect(queue.count == put.count - taken.count)
        }
        #expect(put.starts(with: taken))
        queue.write { bytes in
            taken += bytes
            return bytes.count
        }
        #expect(put == taken)
        #expect(queue.count == 0)
    }

    @Test func `An empty buffer without an address is the same as itself and not as a filled one`() {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(nothing.isSame(as: nothing))
        [1].withUnsafeBytes { #expect(!nothing.isSame(as: $0)) }
    }

    @Test func `A byte queue that never runs empty doesn't grow`() {
        var queue = ByteQueue()
        queue.bytes = [UInt8](repeating: 1, count: 1000)
        for _ in 0..<1000 {
            queue.bytes.append(contentsOf: [UInt8](repeating: 2, count: 1000))
            queue.write { _ in 1000 }
        }
        #expect(queue.count == 1000)
        #expect(queue.bytes.count <= 140_000)
    }

    @Test func `A byte queue doesn't trap if a stream takes a negative or too large number of bytes`() {
        var queue = ByteQueue()
        queue.write { _ in 1 }
        queue.bytes = [1, 2, 3]
        queue.write { _ in -1 }
        #expect(queue.count == 3)
        queue.write { _ in .max }
        #expect(queue.count == 0)
    }
}
