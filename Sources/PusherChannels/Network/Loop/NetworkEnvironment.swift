#if canImport(CLibwebsockets)

/// All that the network stack takes from the system beside its sockets: limits, time, randomness and threads.
///
/// The one door of the stack, as ``PusherEnvironment``, which holds the sockets and sessions that use it, is of the SDK.
struct NetworkEnvironment: Sendable {
    var timeouts = NetworkTimeouts()
    /// The clock of timers, and of how long bytes lay unread.
    var now: @Sendable () -> Instant = { LiveScheduler.now }
    /// Draws masks and nonces, which nobody may foresee (RFC 6455, 10.3).
    var random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    var startThread: SystemThread.Starter = SystemThread.start
    /// Does work on another thread that takes too long for a loop's.
    var performElsewhere: @Sendable (@escaping @Sendable () -> Void) -> Void = BackgroundWork().perform
}

/// The times that the parts of opening and closing a connection may take.
struct NetworkTimeouts: Sendable {
    /// Each stage: finding addresses, being accepted, the proxy's response, the TLS handshake, the upgrade's response. Less than the fifteen
    /// seconds that a client gives an attempt, so that an attempt that gets no further tells where it was.
    var stage = Duration.seconds(10)
    /// Being accepted, if there is another address to try.
    var address = Duration.seconds(5)
    /// All addresses but the last together: a client gives an attempt fifteen seconds, and the last one's turn has to come, too.
    var addresses = Duration.seconds(8)
    /// The peer's part of the closing handshake, as long as nothing moves.
    var closing = Duration.seconds(2)

    /// Being accepted at one of so many addresses that isn't the last.
    func address(of count: Int) -> Duration { min(address, addresses / max(count - 1, 1)) }
}
#endif
