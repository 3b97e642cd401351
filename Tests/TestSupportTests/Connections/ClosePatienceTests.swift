import PusherChannels
import Testing

@testable import TestSupport

/// The time that a client has to read the last messages and to reply to the close frame.
struct ClosePatienceTests {
    private let start = Instant.origin

    @Test func `Who doesn't read is cut when the time is over`() {
        var patience = ClosePatience(.seconds(1), from: start)
        let isOver = [999, 1000].map { patience.isOver(at: start + .milliseconds($0), isSaid: false) }
        #expect(isOver == [false, true])
    }

    @Test func `Who reads now and then is not, for ten times as long`() {
        var patience = ClosePatience(.seconds(1), from: start)
        let isOver = (1...10).map { second in
            patience.isReading = true
            return patience.isOver(at: start + .seconds(second), isSaid: false)
        }
        #expect(isOver == [Bool](repeating: false, count: 9) + [true])
    }

    @Test func `Who has read everything only has to reply`() {
        var patience = ClosePatience(.seconds(1), from: start)
        patience.isReading = true
        let isOver = [0, 1].map { patience.isOver(at: start + .seconds($0), isSaid: true) }
        #expect(isOver == [false, true])
    }

    @Test func `Who had no time at all is looked at again a little later`() {
        var patience = ClosePatience(.zero, from: start)
        patience.isReading = true
        let isOver = patience.isOver(at: start, isSaid: false)
        #expect(!isOver)
        #expect(patience.check == start + .milliseconds(10))
    }
}
