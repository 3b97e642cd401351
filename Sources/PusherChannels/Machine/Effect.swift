/// An action that a connection wants done: plain values, so that a test can compare them and a log can show them.
///
/// Rare cases are stored indirectly: there is one for each event, which is moved about a few times.
enum Effect: Equatable, Sendable {
    case openSocket(ConnectionAttempt, secure: Bool)
    indirect case closeSocket(ConnectionAttempt, code: UInt16, reason: String)
    case setReading(Bool)
    /// Reading goes on although there is no room: a reader that is behind must lose something.
    case pauseLimitReached(heardUpTo: Instant)
    indirect case send(ClientMessage)
    indirect case authorize(SubscriptionAttempt, socketID: String)
    /// It is wanted no longer, or didn't come in time, which is told then.
    indirect case cancelAuthorization(SubscriptionAttempt, unansweredFor: Duration? = nil)
    indirect case authorizeUser(UserMachine.Attempt, socketID: String)
    indirect case cancelUserAuthorization(UserMachine.Attempt, unansweredFor: Duration? = nil)
    indirect case decrypt(ConnectionMachine.EncryptedEvent, SharedSecret)
    case deliver(Delivery)
    /// The context is added where the effects of a change are sorted.
    indirect case log(LogLine, LogContext? = nil)
}

/// A notification for the user; they come in the order in which things happened.
enum Delivery: Equatable, Sendable {
    case event(Envelope)
    indirect case stateChanged(from: ConnectionState, to: ConnectionState, because: PusherError? = nil)
    indirect case subscribed(channel: Name)
    /// Subscribed once more: what was sent on the channel since then may not have come.
    indirect case gap(channel: Name, since: Instant)
    indirect case subscriptionFailed(channel: Name, SubscriptionFailure)
    indirect case memberAdded(channel: Name, PresenceMember)
    indirect case memberRemoved(channel: Name, PresenceMember)
    indirect case subscriptionCount(channel: Name, Int)
    indirect case signedIn(userID: Name)
    indirect case signInFailed(PusherError)
    /// An event for the user, on whatever connection.
    case userEvent(Envelope)
    indirect case watchlist(WatchlistEvent)
    /// An event could not be decrypted. It came after `since`.
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
