import Testing

@testable import TestSupport

/// The frames that wait for a client.
struct FrameQueueTests {
    private let wakes = Locked(0)
    private var queue: FrameQueue { FrameQueue { [wakes] in wakes.withLock { $0 += 1 } } }

    /// Waking it for each frame would cost more than sending does.
    @Test func `A frame queue wakes its thread for the first of several frames and for a close frame`() {
        let queue = queue
        #expect((1...3).map { _ in queue.append(.ping) } == [1, 2, 3])
        #expect(wakes.withLock { $0 } == 1)
        _ = queue.next()
        queue.append(.ping)
        #expect(wakes.withLock { $0 } == 1)
        queue.append(.close(1000))
        #expect(wakes.withLock { $0 } == 2)
        while queue.next() != nil {}
        #expect(queue.append(.ping) == 0, "nothing follows a close frame")
    }

    @Test func `A frame queue wakes its thread again once all frames were taken`() {
        let queue = queue
        for expected in 1...3 {
            queue.append(.ping)
            #expect(wakes.withLock { $0 } == expected)
            while queue.next() != nil {}
        }
    }

    @Test func `A finished frame queue still gives out the frames that wait`() {
        let queue = queue
        queue.append(.text("a"))
        queue.finish()
        #expect(queue.append(.ping) == 0)
        #expect(queue.next()?.bytes == [0x81, 1, 0x61])
        #expect(queue.next() == nil)
    }

    @Test(arguments: [("a", 1), (String(repeating: "é", count: 100), 122), (String(repeating: "x", count: 124), 123)])
    func `A close frame's long reason is cut between characters`(reason: String, length: Int) {
        let frame = OutgoingFrame.close(4001, reason: reason)
        #expect(frame.isClose)
        #expect(frame.bytes.prefix(4) == [0x88, UInt8(length + 2), 0x0F, 0xA1])
        #expect(reason.hasPrefix(String(decoding: frame.bytes.dropFirst(4), as: UTF8.self)))
    }

    @Test(arguments: [125, 126, 65_535, 65_536]) func `A frame's length is encoded in the shortest form`(count: Int) {
        let bytes = OutgoingFrame(first: 0x82, [UInt8](repeating: 7, count: count)).bytes
        let length: [UInt8] =
            switch count {
            case 125: [125]
            case ..<65_536: [126, UInt8(count >> 8), UInt8(count & 0xFF)]
            default: [127, 0, 0, 0, 0, 0, 1, 0, 0]
            }
        #expect(Array(bytes.prefix(length.count + 1)) == [0x82] + length)
        #expect(bytes.count == count + length.count + 1)
    }
}

/// The time that a client has to read the last messages and to reply to the close frame.
struct ClosePatienceTests {
    private let start = Instant.origin

    @Test func `A client that doesn't read is cut off when the close timeout is over`() {
        var patience = ClosePatience(.seconds(1), from: start)
        let isOver = [999, 1000].map { patience.isOver(at: start + .milliseconds($0), isSaid: false) }
        #expect(isOver == [false, true])
    }

    @Test func `A client that reads now and then is cut off after ten times the close timeout`() {
        var patience = ClosePatience(.seconds(1), from: start)
        let isOver = (1...10).map { second in
            patience.isReading = true
            return patience.isOver(at: start + .seconds(second), isSaid: false)
        }
        #expect(isOver == [Bool](repeating: false, count: 9) + [true])
    }

    @Test func `A client that has read everything has only the close timeout to reply`() {
        var patience = ClosePatience(.seconds(1), from: start)
        patience.isReading = true
        let isOver = [0, 1].map { patience.isOver(at: start + .seconds($0), isSaid: true) }
        #expect(isOver == [false, true])
    }

    @Test func `A client that reads is checked again after ten milliseconds if the timeout is zero`() {
        var patience = ClosePatience(.zero, from: start)
        patience.isReading = true
        let isOver = patience.isOver(at: start, isSaid: false)
        #expect(!isOver)
        #expect(patience.check == start + .milliseconds(10))
    }
}
