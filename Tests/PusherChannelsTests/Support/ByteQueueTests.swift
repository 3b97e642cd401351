import Testing

@testable import PusherChannels

@Suite struct OutputBufferTests {
    @Test func bytesComeOutInOrderHoweverFewAreTaken() {
        var buffer = OutputBuffer()
        var generator = SplitMix64(seed: 7)
        var (put, taken): ([UInt8], [UInt8]) = ([], [])
        for round in 0..<3000 {
            let more = [UInt8](repeating: UInt8(round & 0xFF), count: Int.random(in: 0..<100, using: &generator))
            buffer.bytes.append(contentsOf: more)
            put += more
            let room = Int.random(in: 0..<100, using: &generator)
            buffer.write { bytes in
                taken += bytes.prefix(room)
                return min(room, bytes.count)
            }
            #expect(buffer.count == put.count - taken.count)
        }
        #expect(put.starts(with: taken))
        buffer.write { bytes in
            taken += bytes
            return bytes.count
        }
        #expect(put == taken)
        #expect(buffer.count == 0)
    }

    @Test func outputThatNeverRunsDryDoesNotGrow() {
        var buffer = OutputBuffer()
        buffer.bytes = [UInt8](repeating: 1, count: 1000)
        for _ in 0..<1000 {
            buffer.bytes.append(contentsOf: [UInt8](repeating: 2, count: 1000))
            buffer.write { _ in 1000 }
        }
        #expect(buffer.count == 1000)
        #expect(buffer.bytes.count <= 140_000)
    }

    @Test func streamThatTakesNoneOrMoreThanThereIsIsNoTrap() {
        var buffer = OutputBuffer()
        buffer.write { _ in 1 }
        buffer.bytes = [1, 2, 3]
        buffer.write { _ in -1 }
        #expect(buffer.count == 3)
        buffer.write { _ in .max }
        #expect(buffer.count == 0)
    }
}
