/// The user that a client signs in as: its id, its events, and the users it watches.
///
/// This is a handle: all handles share one state, and each keeps the connection alive. All members may be used from any thread.
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

    /// Calls the closure with every event of this name that the application sends to the user; such events reach all of the
    /// user's connections. Returns an id to unbind it with.
    @preconcurrency
    @discardableResult
    public func bind(eventName: String, eventCallback: @escaping @Sendable (PusherEvent) -> Void) -> String {
        connection.core.bind(.user(event: Name(eventName)), eventCallback)
    }

    /// Removes the closure that ``bind(eventName:eventCallback:)`` bound under this id.
    public func unbind(eventName: String, callbackId: String) {
        connection.core.unbind(.user(event: Name(eventName)), id: callbackId)
    }

    /// Removes all closures that are bound to the user's events.
    public func unbindAll() {
        connection.core.unbindAllOfUser()
    }
}

/// The watchlist of the signed-in user: notifies of the watched users who come online or go offline.
///
/// All members may be used from any thread; closures are called on ``PusherClientOptions/delivery``.
public struct PusherWatchlist: Sendable {
    let connection: PusherConnection

    /// Calls the closure with the ids of users who came online or went offline, as `eventName` says: `online` or `offline`.
    /// Returns an id to unbind it with. After a sign-in, the server reports who is online.
    @preconcurrency
    @discardableResult
    public func bind(eventName: String, callback: @escaping @Sendable ([String]) -> Void) -> String {
        String(connection.core.watch(Name(eventName), callback))
    }

    /// Removes the closure that ``bind(eventName:callback:)`` bound under this id.
    public func unbind(callbackId: String) {
        if let id = Int(callbackId) { connection.core.unwatch(id) }
    }
}
