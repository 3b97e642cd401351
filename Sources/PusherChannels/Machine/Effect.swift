/// An action that a connection requires. Effects are plain values, so tests can compare them and logs can show them.
///
/// Rare cases are stored indirectly to keep the type small: each event has an effect, which is moved a few times.
enum Effect: Equatable, Sendable {
    case openSocket(ConnectionAttempt, secure: Bool)
    indirect case closeSocket(ConnectionAttempt, code: UInt16, reason: String)
    case setReading(Bool)
    /// Reading continues although there is no room, so a reader that is behind must lose something.
    case pauseLimitReached(heardUpTo: Instant)
    indirect case send(ClientMessage)
    indirect case authorize(SubscriptionAttempt, socketID: SocketID)
    /// The authorization is no longer wanted. If it timed out, `unansweredFor` is the time-out.
    indirect case cancelAuthorization(SubscriptionAttempt, unansweredFor: Duration? = nil)
    indirect case authorizeUser(UserMachine.Attempt, socketID: SocketID)
    indirect case cancelUserAuthorization(UserMachine.Attempt, unansweredFor: Duration? = nil)
    indirect case decrypt(ConnectionMachine.EncryptedEvent, SharedSecret)
    case deliver(Delivery)
    /// The context is added when the effects of a change are sorted.
    indirect case log(LogLine, LogContext? = nil)
}

/// A notification for the user. Notifications come in the order in which things happened.
enum Delivery: Equatable, Sendable {
    case event(Envelope)
    indirect case stateChanged(from: ConnectionState, to: ConnectionState, because: PusherError? = nil)
    indirect case subscribed(channel: Name)
    /// The channel is subscribed again: events sent on it since that time may be missing.
    indirect case gap(channel: Name, since: Instant)
    indirect case subscriptionFailed(channel: Name, SubscriptionFailure)
    indirect case memberAdded(channel: Name, PresenceMember)
    indirect case memberRemoved(channel: Name, PresenceMember)
    indirect case subscriptionCount(channel: Name, Int)
    indirect case signedIn(userID: Name)
    indirect case signInFailed(PusherError)
    /// An event sent to the signed-in user rather than to one connection.
    case userEvent(Envelope)
    indirect case watchlist(WatchlistEvent)
    /// An event could not be decrypted. It arrived after `since`.
    indirect case decryptionFailed(channel: Name, event: Name, data: String?, since: Instant)
    indirect case error(PusherError)
}

/// The importance of a log line.
enum LogLevel: Equatable, Sendable {
    case trace
    case debug
    case info
    case warning
    case error
}
