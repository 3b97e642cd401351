/// What a connection wants done: plain values, so that a test can compare them and a log can show them.
enum Effect: Equatable, Sendable {
    case openSocket(ConnectionAttempt, secure: Bool)
    case closeSocket(ConnectionAttempt, code: UInt16, reason: String)
    case setReading(Bool)
    /// Reading goes on although there is no room: whoever is behind must lose something.
    case pauseLimitReached(heardUpTo: MonotonicTime)
    case send(ClientMessage)
    case authorise(SubscriptionAttempt, socketID: String)
    case cancelAuthorisation(SubscriptionAttempt)
    case authoriseUser(UserMachine.Attempt, socketID: String)
    case cancelUserAuthorisation(UserMachine.Attempt)
    case openSealed(ConnectionMachine.SealedEvent, SharedSecret)
    case deliver(Delivery)
    case log(LogLevel, String, channel: String? = nil)
}

/// What the user hears of, in the order it happened.
enum Delivery: Equatable, Sendable {
    case event(Envelope)
    case stateChanged(from: ConnectionState, to: ConnectionState, because: PusherError? = nil)
    case subscribed(channel: String)
    /// Subscribed once more: what was sent on the channel since then may not have come.
    case gap(channel: String, since: MonotonicTime)
    case subscriptionFailed(channel: String, SubscriptionFailure)
    case memberAdded(channel: String, PresenceMember)
    case memberRemoved(channel: String, PresenceMember)
    case subscriptionCount(channel: String, Int)
    case signedIn(userID: String)
    case signInFailed(PusherError)
    /// An event for the user, on whatever connection.
    case userEvent(Envelope)
    case watchlist(WatchlistEvent)
    case decryptionFailed(channel: String, event: String, data: String?)
    case error(PusherError)
}

/// How much a log line matters.
enum LogLevel: Equatable, Sendable {
    case debug
    case info
    case warning
}
