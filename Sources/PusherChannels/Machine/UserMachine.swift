/// The user that this client wants to be, and how far the wish has come true.
struct UserMachine: Equatable, Sendable {
    /// One try at signing in. Tells an answer to it from answers to earlier tries, which are stale.
    struct Attempt: Hashable, Sendable {
        let connection: ConnectionAttempt
        let number: Int
    }

    enum State: Equatable, Sendable {
        /// Nobody asked for a user.
        case signedOut
        /// For a connection to be established.
        case waiting
        case authorizing(Attempt, deadline: Instant)
        case signingIn(deadline: Instant)
        case signedIn(id: Name, channel: Name)
        /// Until it is time to ask for the authorization again.
        case retrying(at: Instant)
        /// Until the user asks again or the next connection is established.
        case failed
    }

    var state = State.signedOut
    /// Indicates whether somebody asked to be signed in and hasn't been told of an outcome.
    var isAwaited = false
    /// Indicates whether the server was asked on this connection: its yes counts, whenever it comes.
    var isAskedFor = false
    /// An error that ended the sign-in and named nothing: if its success comes after all, it was about something else.
    var takenError: PusherError?
    /// The user's channel as it was when its connection was lost: the next subscription says what may be missing between the two.
    var lostChannel: SubscriptionMachine?
    var attempts = 0
    /// Authorizations in a row that failed on this connection.
    var failures = 0
    /// The time before which who authorizes doesn't want to be asked again; also by the next connection.
    var notBefore: Instant?

    /// Events for a user come on a channel of this name, which the server lets only that user have.
    static func channel(ofUser id: Name) -> Name { Name("#server-to-user-\(id)") }

    /// Indicates whether a user is wanted who isn't signed in yet.
    var isExpected: Bool {
        switch state {
        case .waiting, .authorizing, .signingIn, .retrying: true
        case .signedOut, .signedIn, .failed: false
        }
    }

    /// Indicates whether the server has still to reply.
    var isSigningIn: Bool {
        if case .signingIn = state { true } else { false }
    }

    var id: Name? {
        if case .signedIn(let id, _) = state { id } else { nil }
    }

    var channel: Name? {
        if case .signedIn(_, let channel) = state { channel } else { nil }
    }

    var deadline: Instant? {
        switch state {
        case .authorizing(_, let deadline), .signingIn(let deadline), .retrying(let deadline): deadline
        case .signedOut, .waiting, .signedIn, .failed: nil
        }
    }
}
