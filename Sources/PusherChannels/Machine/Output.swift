/// Something that a connection requires: to do or to tell. Outputs are plain values, so tests can compare them and logs can show them.
enum Output: Equatable, Sendable {
    case command(Command)
    case deliver(Delivery)
    indirect case log(LogLine)
    /// Reading from the socket is to go on, or to pause.
    case setReading(Bool)
    /// Reading continues although there is no room, so a reader that is behind must lose something.
    case pauseLimitReached(receivedUpTo: Instant)
}

extension Output {
    /// Something to be done outside the client: on the socket, by an authorizer, by the decrypting thread, in the log.
    ///
    /// Rare cases are stored indirectly to keep the type small: outputs are moved a few times.
    enum Command: Equatable, Sendable {
        case openSocket(ConnectionAttempt, secure: Bool)
        indirect case closeSocket(ConnectionAttempt, code: UInt16, reason: String)
        indirect case send(ClientMessage)
        indirect case authorize(SubscriptionAttempt, socketID: SocketID)
        /// The authorization is no longer wanted. If it timed out, `unansweredFor` is the time-out.
        indirect case cancelAuthorization(SubscriptionAttempt, unansweredFor: Duration? = nil)
        indirect case authorizeUser(UserMachine.Attempt, socketID: SocketID)
        indirect case cancelUserAuthorization(UserMachine.Attempt, unansweredFor: Duration? = nil)
        indirect case decrypt(ConnectionMachine.EncryptedEvent, SharedSecret)
        indirect case log(LogLine, LogContext)
    }
}
