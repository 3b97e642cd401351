import Foundation
import Testing

@testable import PusherChannels

/// What a message says of an error that isn't ours.
@Suite struct ErrorTextTests {
    private static let secret = "https://example.com/?token=s3cret"

    private func error() -> NSError {
        let info: [String: Any] = [NSLocalizedDescriptionKey: "it hung up", NSURLErrorFailingURLErrorKey: Self.secret]
        return NSError(domain: NSURLErrorDomain, code: NSURLErrorNetworkConnectionLost, userInfo: info)
    }

    @Test func anNSErrorIsItsDescription() {
        #expect(text(of: error()) == "it hung up")
    }

    /// Where a continuation throws it, it is an error in an error.
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
