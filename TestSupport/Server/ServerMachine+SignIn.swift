import PusherChannels

/// A user that was signed in on a connection.
struct ServerUser: Equatable {
    let id: Name
    let watchlist: Set<Name>

    /// The prefix of the channel that carries events for a user, to which only that user may subscribe.
    private static let channelPrefix: StaticString = "#server-to-user-"
    var channel: Name { "\(Self.channelPrefix)\(id)" }

    static func isUserChannel(_ channel: String) -> Bool {
        channel.begins(with: channelPrefix) && channel.utf8.count > channelPrefix.utf8CodeUnitCount
    }
}

extension ServerMachine {
    private struct SignInRefusal: Error {
        var occasion = ServerProfile.Occasion.signInRefused
        let message: String
    }

    mutating func signIn(_ data: JSONValue?, from id: ConnectionID) {
        guard let connection = connections[id] else { return }
        guard connection.user == nil else { return reject("Connection is already signed in", from: id) }
        do throws(SignInRefusal) {
            let userData = try verifiedUserData(data, of: connection)
            let (user, isWatchlistTooLong) = try user(userData)
            let isFirst = !isOnline(user.id, app: connection.app)
            connections[id]?.user = user
            connections[id]?.isAuthorized = true
            var success: [Name: JSONValue] = ["user_data": .string(userData)]
            if profile.repeatsSignInAuth { success["auth"] = data?["auth"] }
            effects.append(.send(ServerFrame.event("pusher:signin_success", value: .object(success)), to: id))
            effects.append(.notice(.signedIn(id, userID: user.id.text)))
            if isWatchlistTooLong {
                let limit = profile.maximumWatchlistLength
                reject("Watchlist limit exceeded: only the first \(limit) users count", code: 4302, from: id)
            }
            announceArrival(of: user, at: id, isFirst: isFirst, app: connection.app)
        } catch {
            refuse(error.occasion, error.message, code: 4009, from: id)
        }
    }

    /// Returns the user data as it was signed.
    private func verifiedUserData(_ data: JSONValue?, of connection: Connection) throws(SignInRefusal) -> String {
        guard let userData = data?["user_data"]?.stringValue else {
            throw SignInRefusal(occasion: .signInWithoutData, message: "Sign-in without user_data")
        }
        if checksSignatures(of: connection.app) {
            let expected = try? Signature.user(
                userData, socketID: connection.socketID, key: connection.app.key, secret: connection.app.secret)
            guard let expected, let auth = data?["auth"]?.stringValue, isSameSignature(auth, expected) else {
                throw SignInRefusal(message: "Connection not authorized: invalid signature of the user data")
            }
        }
        return userData
    }

    private func user(_ userData: String) throws(SignInRefusal) -> (user: ServerUser, isWatchlistTooLong: Bool) {
        let data = try? JSONValue(parsing: userData)
        guard let id = data?["id"]?.identifier, !id.isEmpty else {
            throw SignInRefusal(message: "Sign-in without a user id")
        }
        let watchlist = (data?["watchlist"]?.arrayValue ?? []).compactMap(\.identifier)
        let limit = profile.watchlist == nil ? 0 : profile.maximumWatchlistLength
        return (
            ServerUser(id: Name(id), watchlist: Set(watchlist.prefix(limit).map { Name($0) })),
            limit > 0 && watchlist.count > limit
        )
    }

    // MARK: Watchlists

    private func isOnline(_ userID: Name, app: ServerApp) -> Bool {
        connections.values.contains { $0.user?.id == userID && $0.app.hasKey(app.key) }
    }

    private mutating func announceArrival(
        of user: ServerUser, at id: ConnectionID, isFirst: Bool, app: ServerApp
    ) {
        let online = user.watchlist.filter { isOnline($0, app: app) }.sorted().map(\.text)
        if !online.isEmpty, let frame = profile.watchlistEvent("online", userIDs: online) {
            effects.append(.send(frame, to: id))
        }
        if isFirst { tellWatchers(of: user.id, "online", app: app, except: id) }
    }

    /// Tells watchers that a user is offline, if the last of the user's connections is gone.
    mutating func announceDeparture(of user: ServerUser, app: ServerApp) {
        if !isOnline(user.id, app: app) { tellWatchers(of: user.id, "offline", app: app, except: nil) }
    }

    private mutating func tellWatchers(
        of userID: Name, _ event: String, app: ServerApp, except id: ConnectionID?
    ) {
        guard let frame = profile.watchlistEvent(event, userIDs: [userID.text]) else { return }
        let watchers = connections.filter { key, connection in
            key != id && connection.app.hasKey(app.key) && connection.user?.watchlist.contains(userID) == true
        }
        send(frame, to: watchers.keys.sorted())
    }

    // MARK: Ending

    /// Closes every connection of a user with 4009, as the HTTP API's `terminate_connections` does.
    mutating func terminateConnections(of userID: String, app: ServerApp) {
        let ids = connections.filter { $0.value.user?.id == Name(userID) && $0.value.app.hasKey(app.key) }.keys.sorted()
        for id in ids where !answer(.terminated, to: id) {
            close(id, code: 4009, reason: "Terminated by app")
        }
    }
}
