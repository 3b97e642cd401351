import Foundation
import PusherChannels

extension StubResponse {
    /// Creates a backend's JSON response. If `body` throws, the response has status 400 and the error as its text.
    public init(json body: () throws -> Data) {
        do {
            self.init(headers: ["Content-Type": "application/json"], body: try body())
        } catch {
            self.init(status: 400, text: "\(error)\n")
        }
    }
}

extension PusherWebhookVerifier {
    /// Verifies and reads a webhook that a test double received.
    ///
    /// - Throws: A ``PusherWebhookError``.
    public func verify(_ request: RecordedRequest) throws(PusherWebhookError) -> PusherWebhook {
        try verify(
            body: request.body, key: request.header("X-Pusher-Key"), signature: request.header("X-Pusher-Signature"))
    }
}
