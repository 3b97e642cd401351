import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// The message text for errors that aren't this package's.
@Suite struct ErrorTextTests {
    private static let secret = "https://example.com/?token=s3cret"

    private func error() -> NSError {
        let info: [String: Any] = [NSLocalizedDescriptionKey: "it hung up", NSURLErrorFailingURLErrorKey: Self.secret]
        return NSError(domain: NSURLErrorDomain, code: NSURLErrorNetworkConnectionLost, userInfo: info)
    }

    @Test func anNSErrorIsItsDescription() {
        #expect(text(of: error()) == "it hung up")
    }

    /// A continuation that throws an error wraps it in another one.
    @Test func soIsOneThatAContinuationThrew() async {
        do {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                continuation.resume(throwing: error())
            }
            Issue.record("nothing was thrown")
        } catch {
            #expect(text(of: error) == "it hung up")
        }
    }
}

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
