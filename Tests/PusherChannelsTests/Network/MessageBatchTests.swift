import TestSupport
import Testing

@testable import PusherChannels

/// What a batch says of how long its messages may have waited.
@Suite struct MessageBatchTests {
    private func age(since time: Instant) -> Duration {
        MessageBatch.controlFrames(.since(time)).age
    }

    /// Whoever handles it may be suspended meanwhile: it counts until it is asked for.
    @Test func itsAgeCountsUntilItIsAskedFor() {
        let time = LiveScheduler.now - Duration.seconds(5)
        let (first, second) = (age(since: time), age(since: time))
        #expect(first >= Duration.seconds(5))
        #expect(second > first)
    }

    @Test func whatIsReadAsItComesHasNone() {
        #expect(age(since: LiveScheduler.now + Duration.seconds(60)) == .zero)
    }

    @Test func whatASocketTellsIsTaken() {
        #expect(MessageBatch.controlFrames(age: .milliseconds(3)).age == .milliseconds(3))
    }
}
