import Testing

@testable import PusherChannels

@Suite struct ConnectionAttemptTests {
    @Test func attemptsFollowEachOther() {
        let first = ConnectionAttempt(1)
        #expect(first.next == ConnectionAttempt(2))
        #expect(first < first.next)
        #expect(!(first < first))
        #expect(first.description == "#1")
    }
}
