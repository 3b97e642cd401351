/// The user that a client signs in as: its id, its events, and the users it watches.
///
/// A handle: all of them share one state, and each keeps the connection alive. All members may be used from any thread.
public struct PusherUser: Sendable {
    let connection: PusherConnection

    /// The signed-in user's id; nil while nobody is signed in.
    public var id: String? { connection.core.read(\.user.id)?.text }

    /// The users this one watches, as its `user_data` lists them.
    public var watchlist: PusherWatchlist { PusherWatchlist(connection: connection) }

    // MARK: Signing in

    func signIn(completionHandler: @escaping UserListeners.SignInCallback) {
        connection.core.signIn(completionHandler)
    }

    func signIn() async throws -> String {
        let outcome = OneShot<String>()
        let id = connection.core.signIn { outcome.give($0.mapError { $0 }) }
        return try await outcome.valueUnlessAskedToEnd { connection.core.forgetSignIn(id) }
    }

    // MARK: Events

    /// Calls the closure with every event of this name that the application sends to the user, on whatever connection the user
    /// has; gives an id to take it back with.
    @preconcurrency
    @discardableResult
    public func bind(eventName: String, eventCallback: @escaping @Sendable (PusherEvent) -> Void) -> String {
        connection.core.bind(.user(event: Name(eventName)), eventCallback)
    }

    /// Takes back what ``bind(eventName:eventCallback:)`` bound under this id.
    public func unbind(eventName: String, callbackId: String) {
        connection.core.unbind(.user(event: Name(eventName)), id: callbackId)
    }

    /// Takes back all that was bound to the user's events.
    public func unbindAll() {
        connection.core.unbindAllOfUser()
    }
}

/// The users that the signed-in user watches: who of them comes online and who goes offline.
///
/// All members may be used from any thread; closures are called where ``PusherClientOptions/delivery`` says.
public struct PusherWatchlist: Sendable {
    let connection: PusherConnection

    /// Calls the closure with the ids of users who did so, `eventName` being `online` or `offline`; gives an id to take it back
    /// with. After signing in the server tells who is online.
    @preconcurrency
    @discardableResult
    public func bind(eventName: String, callback: @escaping @Sendable ([String]) -> Void) -> String {
        String(connection.core.watch(Name(eventName), callback))
    }

    /// Takes back what ``bind(eventName:callback:)`` bound under this id.
    public func unbind(callbackId: String) {
        if let id = Int(callbackId) { connection.core.unwatch(id) }
    }
}
