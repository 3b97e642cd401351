import Testing

@testable import PusherChannels

@Suite struct ByteQueueTests {
    @Test func bytesComeOutInOrderHoweverFewAreTaken() {
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

    @Test func outputThatNeverRunsDryDoesNotGrow() {
        var queue = ByteQueue()
        queue.bytes = [UInt8](repeating: 1, count: 1000)
        for _ in 0..<1000 {
            queue.bytes.append(contentsOf: [UInt8](repeating: 2, count: 1000))
            queue.write { _ in 1000 }
        }
        #expect(queue.count == 1000)
        #expect(queue.bytes.count <= 140_000)
    }

    @Test func streamThatTakesNoneOrMoreThanThereIsIsNoTrap() {
        var queue = ByteQueue()
        queue.write { _ in 1 }
        queue.bytes = [1, 2, 3]
        queue.write { _ in -1 }
        #expect(queue.count == 3)
        queue.write { _ in .max }
        #expect(queue.count == 0)
    }
}
