import TestSupport
import Testing

@testable import PusherChannels

/// The age of a batch: the longest that its messages may have waited.
@Suite struct MessageBatchTests {
    /// The code that handles a batch may be suspended before it reads the age, so the age grows until it is read.
    @Test func itsAgeCountsUntilItIsAskedFor() {
        let scheduler = TestScheduler()
        let batch = MessageBatch.controlFrames(.since(.origin, now: { scheduler.now }))
        scheduler.advance(by: .seconds(5))
        let first = batch.age
        scheduler.advance(by: .seconds(2))
        let second = batch.age
        #expect([first, second] == [.seconds(5), .seconds(7)])
    }

    @Test(arguments: [(99, 0), (100, 0), (101, 101)])
    func whatIsReadAsItComesHasNone(milliseconds: Int, expected: Int) {
        let now = Instant(.milliseconds(milliseconds))
        let age = MessageBatch.controlFrames(.since(.origin, now: { now })).age
        #expect(age == .milliseconds(expected))
    }

    @Test func whatASocketTellsIsTaken() {
        let age = MessageBatch.controlFrames(age: .milliseconds(3)).age
        #expect(age == .milliseconds(3))
    }
}
