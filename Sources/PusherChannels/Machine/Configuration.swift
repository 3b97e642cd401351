extension ConnectionMachine {
    /// The settings of a connection. Only those of the heartbeat change.
    struct Configuration: Equatable, Sendable {
        var `protocol` = PusherProtocol.pusher
        /// Indicates whether the first attempt uses TLS.
        var secure = true
        /// For each server to try after the first one, whether its first attempt uses TLS.
        var fallbacksSecure: [Bool] = []
        /// Indicates whether a server that accepts only TLS (close code 4000) may be retried with it.
        var upgradesToTLS = false
        var autoReconnect = true
        var reconnectPolicy = ReconnectPolicy()
        /// The silence after which the client asks for a sign of life; the server may ask for a shorter one.
        var activityTimeout: Duration = .seconds(120)
        /// The longest time for which the client sends nothing.
        var keepAlive: Duration = .seconds(30)
        var timeouts = ConnectionTimeouts()
        /// The largest number of authorizations that may be requested at a time.
        var concurrentAuthorizations = 16
        /// The longest time for which nothing is read while the user's side is behind. It is shorter than a server's wait for a
        /// pong.
        var pauseLimit: Duration = .seconds(20)
        /// The delay between attempts at a subscription that failed and may succeed later.
        var subscriptionRetry = ExponentialDelay(initial: .seconds(1), maximum: .seconds(60))
        /// The limits that are checked before a request is sent to a server.
        var limits = ProtocolLimits.hosted
        /// The largest number of events of one encrypted channel that may wait for its key.
        var encryptedEventLimit = 1000
        /// The largest number of bytes that these events may have.
        var encryptedEventByteLimit = 4 << 20
        /// The largest number of bytes of events that may wait for replays, for all channels together.
        var heldEventByteLimit = 16 << 20
        /// The places after which an earlier process's channels go on.
        var positions: [Name: StreamPosition] = [:]
        /// The largest number of client events that may wait for one channel's subscription.
        var unsentEventLimit = 100
        /// The largest number of bytes of data that these events may have.
        var unsentEventByteLimit = 1 << 20
    }
}
