import Foundation
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
