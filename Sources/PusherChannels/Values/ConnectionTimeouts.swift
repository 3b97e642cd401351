/// The time that each step may take before it is given up and, except for ``close``, reported as `timedOut`.
///
/// A negative time counts as zero, which gives a step no time at all; more than a century counts as a century.
public struct ConnectionTimeouts: Equatable, Sendable {
    /// The time from the start of an attempt to the open socket: name look-up, TCP, TLS and WebSocket upgrade together.
    public var open: Duration
    /// The time from the open socket to the server's `pusher:connection_established`.
    public var establish: Duration
    /// The time from a ping to any sign of life.
    public var pong: Duration
    /// The time from the client's close frame to the server's. When it is over, the connection counts as closed, which is no
    /// error. On Linux, the socket waits two seconds at most.
    public var close: Duration
    /// The time from the request for an authorization to its response.
    public var authorization: Duration
    /// The time from a subscription or a sign-in to the server's reply.
    public var subscription: Duration

    /// Creates time-outs. The defaults suit a service.
    public init(
        open: Duration = .seconds(15), establish: Duration = .seconds(15), pong: Duration = .seconds(30),
        close: Duration = .seconds(5), authorization: Duration = .seconds(15), subscription: Duration = .seconds(30)
    ) {
        self.open = open
        self.establish = establish
        self.pong = pong
        self.close = close
        self.authorization = authorization
        self.subscription = subscription
    }

    /// These time-outs, each limited to a time that can be waited for.
    var asWaits: ConnectionTimeouts {
        ConnectionTimeouts(
            open: open.asWait, establish: establish.asWait, pong: pong.asWait, close: close.asWait,
            authorization: authorization.asWait, subscription: subscription.asWait)
    }
}
