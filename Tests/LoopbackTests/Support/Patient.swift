#if os(Linux)
import PusherChannels

extension ConnectionTimeouts {
    /// For tests that aren't about them: on a busy machine everything takes as long as it takes.
    static let patient = ConnectionTimeouts(open: day, establish: day, pong: day, authorization: day, subscription: day)
}

extension PusherHTTPAPIOptions {
    /// For tests that aren't about how long a response takes.
    static let patient = PusherHTTPAPIOptions(timeout: day)
}

private let day = Duration.seconds(86_400)
#endif
