/// Anything that can happen to a connection. Inputs form one ordered list of values, which can be logged, replayed, and fuzzed.
enum Input: Equatable, Sendable {
    // The user's requests.
    case connect
    case disconnect
    /// Shuts the client down: the channels are given up, and nothing connects it again.
    case shutDown
    /// Nothing refers to the client anymore, so nobody can ask it for anything.
    case clientReleased
    /// The network may have changed, or be available again.
    case networkChanged
    /// Another server is in the place of the first one; `secure` indicates whether its connections begin with TLS.
    case moved(secure: Bool)
    indirect case reconnectPolicy(ReconnectPolicy)
    /// The number of consecutive attempts that count as failed.
    case reconnectAttempts(Int)
    /// The silence after which the server is pinged, and the wait for its pong, from the next connection on.
    indirect case heartbeat(activityTimeout: Duration, pongTimeout: Duration)
    /// `areOver` indicates whether so much waits for the user's side that no more should be read.
    case readersChanged(areOver: Bool)
    /// `auth` is an authorization supplied by the caller, to be used instead of requesting one. Of a new channel, the application
    /// has what came up to `position`. The options are for a channel that is new or was refused.
    indirect case subscribe(
        channel: Name, auth: PusherAuth?, after: StreamPosition? = nil, options: SubscriptionOptions? = nil)
    indirect case unsubscribe(channel: Name)
    /// Takes over a channel from another connection, with its known state. See ``ConnectionMachine/stateToMove(of:at:)``.
    indirect case adopt(SubscriptionMachine)
    indirect case trigger(ClientEvent)
    case signIn

    // Reports of an attempt's socket.
    case socketOpened(ConnectionAttempt)
    case received(ServerMessage, ConnectionAttempt)
    indirect case receivedMalformed(MalformedMessage, ConnectionAttempt)
    case receivedControlFrame(ConnectionAttempt)
    /// The messages received just now may have arrived this long before.
    indirect case receivedLate(by: Duration, ConnectionAttempt)
    indirect case socketClosed(WebSocketClosure, ConnectionAttempt)

    // Results of earlier effects, and the timer.
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

/// One attempt to subscribe to a channel. It distinguishes replies to this attempt from stale replies to earlier ones.
struct SubscriptionAttempt: Hashable, Sendable {
    let channel: Name
    let connection: ConnectionAttempt
    let generation: Int
}
