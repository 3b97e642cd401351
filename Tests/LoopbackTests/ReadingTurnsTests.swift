#if os(Linux)
import TestSupport
import Testing

@testable import PusherChannels

/// What is known of how long something lay unread.
@Suite struct ReadingTurnsTests {
    private var turns = ReadingTurns(at: .origin)
    private var stream: UnreadTime

    init() {
        stream = UnreadTime(turns)
    }

    /// A turn, in which the stream reads or not; what its owner is told.
    @discardableResult
    private mutating func turn(at milliseconds: Int, reads: Bool = false, isComplete: Bool = true) -> Duration? {
        turns.begin(at: .milliseconds(milliseconds))
        let told = reads ? stream.read(in: turns) : nil
        turns.end(isComplete: isComplete)
        return told
    }

    @Test mutating func whatIsReadSoonIsNoNews() {
        turn(at: 10)
        #expect(turn(at: 60, reads: true) == nil)
        #expect(turn(at: 70, reads: true) == nil)
    }

    @Test mutating func whatComesAfterALongTimeMayHaveWaited() {
        turn(at: 10)
        #expect(turn(at: 5_000, reads: true) == .milliseconds(4_990), "nobody has looked since")
        #expect(turn(at: 5_001, reads: true) == nil, "the same wait")
        turn(at: 5_002)
        #expect(turn(at: 5_003, reads: true) == .zero)
        #expect(turn(at: 5_004, reads: true) == nil)
    }

    @Test mutating func itGrowsAsLongAsThereIsMore() {
        for time in stride(from: 10, through: 100, by: 10) { #expect(turn(at: time, reads: true) == nil) }
        #expect(turn(at: 110, reads: true) == .milliseconds(110), "since it was opened there was always something")
    }

    @Test mutating func aTurnThatNamesNotAllSaysNothing() {
        turn(at: 10)
        turn(at: 900, isComplete: false)
        #expect(turn(at: 1_000, reads: true) == .milliseconds(990))
    }

    @Test mutating func turnsDuringAPauseSayNothing() {
        turn(at: 10)
        stream.pause(turns)
        for time in stride(from: 100, through: 900, by: 100) { turn(at: time) }
        stream.resume(turns)
        #expect(turn(at: 1_000, reads: true) == .milliseconds(990))
    }

    @Test mutating func aTurnInWhichItIsLeftForLaterSaysNothing() {
        turn(at: 10)
        turns.begin(at: .milliseconds(900))
        stream.wait(in: turns)
        turns.end(isComplete: true)
        #expect(turn(at: 1_000, reads: true) == .milliseconds(990))
    }

    @Test mutating func thoseAfterItDo() {
        stream.pause(turns)
        turn(at: 900)
        stream.resume(turns)
        turn(at: 950)
        #expect(turn(at: 1_000, reads: true) == nil, "nothing was there when all were asked")
    }
}
#endif
