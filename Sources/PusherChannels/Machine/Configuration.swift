extension ConnectionMachine {
    /// The settings of a connection, which never change.
    struct Configuration: Equatable, Sendable {
        /// Indicates whether to begin with TLS.
        var secure = true
        /// Indicates whether a server that takes TLS only (close code 4000) may be tried again with it.
        var upgradesToTLS = false
        var autoReconnect = true
        var reconnectPolicy = ReconnectPolicy()
        /// Silence after which the client asks for a sign of life; the server may ask for less.
        var activityTimeout: Duration = .seconds(120)
        var timeouts = ConnectionTimeouts()
        /// The largest number of authorizations that may be asked for at a time.
        var concurrentAuthorizations = 16
        /// The longest time for which nothing is read when the user's side is behind: less than a server waits for a pong.
        var pauseLimit: Duration = .seconds(20)
        /// Between tries at a subscription that failed and may succeed later.
        var subscriptionRetry = ExponentialDelay(initial: .seconds(1), maximum: .seconds(60))
        /// The limits that are checked before a server is asked.
        var limits = ProtocolLimits.hosted
        /// Events of one encrypted channel that may wait for its key.
        var encryptedEventLimit = 1000
        /// And how many bytes they may have.
        var encryptedEventByteLimit = 4 << 20
        /// Client events that may wait for one channel's subscription.
        var unsentEventLimit = 100
        /// And how many bytes of data they may have.
        var unsentEventByteLimit = 1 << 20
    }
}
