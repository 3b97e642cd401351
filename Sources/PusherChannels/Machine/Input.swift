/// Everything that can happen to a connection, as one ordered list of values: loggable, replayable, fuzzable.
enum Input: Equatable, Sendable {
    // What the user wants.
    case connect
    case disconnect
    /// For good: the channels are given up, and nothing connects the client again.
    case shutDown
    /// Nothing refers to the client any more, so that nobody can ask it for anything.
    case letGo
    /// The network may be another one, or back.
    case networkChanged
    indirect case reconnectPolicy(ReconnectPolicy)
    /// Tells whether so much waits for the user's side that no more should come.
    case readersChanged(areOver: Bool)
    /// `auth` is an authorization the caller brought along, to be used instead of asking for one.
    indirect case subscribe(channel: Name, auth: PusherAuth?)
    indirect case unsubscribe(channel: Name)
    /// Wants a channel that another connection had, with what is known of it: see ``ConnectionMachine/handedOver(_:at:)``.
    indirect case adopt(SubscriptionMachine)
    indirect case trigger(ClientEvent)
    case signIn

    // What the socket of an attempt reports.
    case socketOpened(ConnectionAttempt)
    case received(ServerMessage, ConnectionAttempt)
    indirect case receivedMalformed(MalformedMessage, ConnectionAttempt)
    case receivedControlFrame(ConnectionAttempt)
    /// Messages that were received just now may have come so long before.
    indirect case receivedLate(by: Duration, ConnectionAttempt)
    indirect case socketClosed(WebSocketClosure, ConnectionAttempt)

    // What was asked for and came back.
    indirect case authorized(SubscriptionAttempt, Result<PusherAuth, AuthorizationFailure>)
    indirect case userAuthorized(UserMachine.Attempt, Result<PusherUserAuth, AuthorizationFailure>)
    indirect case opened(ConnectionMachine.EncryptedEvent, Result<String, ConnectionMachine.DecryptionFailure>)
    case deadlineReached
}

/// An event that a client sends to the other subscribers of a channel; `data` is JSON text.
struct ClientEvent: Equatable, Sendable {
    let name: String
    let channel: Name
    let data: String
}

/// One try at subscribing to a channel. Tells an answer to it from answers to earlier tries, which are stale.
struct SubscriptionAttempt: Hashable, Sendable {
    let channel: Name
    let connection: ConnectionAttempt
    let generation: Int
}
