import Foundation
import PusherChannels

extension StubResponse {
    /// Creates a backend's answer as JSON; what `body` throws is answered with status 400 and what it says.
    public init(json body: () throws -> Data) {
        do {
            self.init(headers: ["Content-Type": "application/json"], body: try body())
        } catch {
            self.init(status: 400, text: "\(error)\n")
        }
    }
}

extension PusherWebhookVerifier {
    /// Verifies a webhook that a test double received, and reads it.
    ///
    /// - Throws: A ``PusherWebhookError``.
    public func verify(_ request: RecordedRequest) throws(PusherWebhookError) -> PusherWebhook {
        try verify(
            body: request.body, key: request.header("X-Pusher-Key"), signature: request.header("X-Pusher-Signature"))
    }
}
