/// The user that this client wants to be, and the progress of the sign-in.
struct UserMachine: Equatable, Sendable {
    /// One attempt to sign in. It distinguishes replies to this attempt from stale replies to earlier ones.
    struct Attempt: Hashable, Sendable {
        let connection: ConnectionAttempt
        let number: Int
    }

    enum State: Equatable, Sendable {
        /// No user was requested.
        case signedOut
        /// Waits for a connection to be established.
        case waiting
        case authorizing(Attempt, deadline: Instant)
        case signingIn(deadline: Instant)
        case signedIn(id: Name, channel: Name)
        /// Waits until it is time to request the authorization again.
        case retrying(at: Instant)
        /// Stays signed out until the user asks again or the next connection is established.
        case failed
    }

    var state = State.signedOut
    /// Indicates whether a sign-in was requested whose outcome hasn't been reported yet.
    var isAwaited = false
    /// Indicates whether the server was asked on this connection. Its success then counts, whenever it arrives.
    var isAskedFor = false
    /// An error that ended the sign-in without naming its subject. If the success arrives after all, the error was about
    /// something else.
    var takenError: PusherError?
    /// The user's channel as it was when its connection was lost. The next subscription reports what may be missing in between.
    var lostChannel: SubscriptionMachine?
    var attempts = 0
    /// The number of consecutive authorizations that failed on this connection.
    var failures = 0
    /// The failure that was reported last since the user was asked for or signed in.
    var reportedFailure: PusherError?
    /// The time before which the authorizer asked not to be called again. It also applies to the next connection.
    var notBefore: Instant?

    /// Returns the name of the channel that carries a user's events. The server lets only that user have it.
    static func channel(ofUser id: Name) -> Name { Name("#server-to-user-\(id)") }

    /// Indicates whether a user is wanted but not signed in yet.
    var isExpected: Bool {
        switch state {
        case .waiting, .authorizing, .signingIn, .retrying: true
        case .signedOut, .signedIn, .failed: false
        }
    }

    /// Indicates whether the server has yet to reply to the sign-in.
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

extension Name {
    /// Indicates whether it is that of a channel that carries a user's events.
    var isOfUser: Bool { begins(with: "#server-to-user-") }
}
