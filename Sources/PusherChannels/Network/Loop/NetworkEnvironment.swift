#if canImport(CLibwebsockets)

/// Everything that the network stack takes from the system besides its sockets: limits, time, randomness and threads.
///
/// The stack takes them from nowhere else. It is to the stack what ``PusherEnvironment``, which holds the sockets and sessions
/// that use it, is to the SDK.
struct NetworkEnvironment: Sendable {
    var timeouts = NetworkTimeouts()
    /// The clock for timers, and for the time that bytes lay unread.
    var now: @Sendable () -> Instant = { LiveScheduler.now }
    /// Draws masks and nonces, which must be unpredictable (RFC 6455, 10.3).
    var random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    var startThread: SystemThread.Starter = SystemThread.start
    /// Does work that takes too long for a loop's thread on another one.
    var performElsewhere: @Sendable (@escaping @Sendable () -> Void) -> Void = BackgroundWork("pusher-large").perform
}

/// The times that the parts of opening and closing a connection may take.
struct NetworkTimeouts: Sendable {
    /// The time for each stage: finding addresses, being accepted, the proxy's response, the TLS handshake, the upgrade's
    /// response. Less than the fifteen seconds that a client gives an attempt, so that a stuck attempt reports its stage.
    var stage = Duration.seconds(10)
    /// The time for being accepted, if there is another address to try.
    var address = Duration.seconds(5)
    /// The time for all addresses but the last together. A client gives an attempt fifteen seconds, and the last one must have
    /// its turn, too.
    var addresses = Duration.seconds(8)
    /// The time without progress that the peer's part of the closing handshake may take.
    var closing = Duration.seconds(2)

    /// Returns the time for being accepted at one of `count` addresses that isn't the last.
    func address(of count: Int) -> Duration { min(address, addresses / max(count - 1, 1)) }
}
#endif
