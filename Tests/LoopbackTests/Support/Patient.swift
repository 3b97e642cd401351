#if os(Linux)
import PusherChannels

extension ConnectionTimeouts {
    /// Time-outs for tests that aren't about time-outs: a busy machine may take any amount of time.
    static let patient = ConnectionTimeouts(open: day, establish: day, pong: day, authorization: day, subscription: day)
}

extension PusherHTTPAPIOptions {
    /// Options for tests that aren't about response times.
    static let patient = PusherHTTPAPIOptions(timeout: day)
}

private let day = Duration.seconds(86_400)
#endif
