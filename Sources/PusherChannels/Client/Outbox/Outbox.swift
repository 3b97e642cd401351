/// What is to be done outside the lock, and with what.
struct Outbox {
    /// The commands to carry out, in order.
    var commands: [Output.Command] = []
    var isDraining = false
    /// Called when the draining thread is done.
    var drainWaits: [@Sendable () -> Void] = []
    var socket: (any WebSocket)?
    var reading = ReadingOrder()
    var timer = DeadlineTimer()
    var session: any HTTPSession
    var channelUser: (@Sendable () -> PusherPresenceChannelMember)?
    /// The authorizations under way.
    private(set) var authorizations: [AuthorizationID: AuthorizationCall] = [:]
    /// Those of them that are to be asked for, in the order of their commands.
    var calls: [AuthorizationCall] = []

    init(session: any HTTPSession) {
        self.session = session
    }

    mutating func begin(_ id: AuthorizationID) {
        let call = AuthorizationCall(id, session, channelUser)
        authorizations[id] = call
        calls.append(call)
    }

    mutating func remove(_ id: AuthorizationID) -> AuthorizationCall? { authorizations.removeValue(forKey: id) }
}

/// The way to the server and to those who authorize.
struct Peers: Sendable {
    let target: ConnectionTarget
    let authorizer: ChannelAuthorizer
    let userAuthorizer: UserAuthorizer
}

/// The request that opens a connection: the server's request with the application's path.
struct ConnectionTarget: Sendable {
    let key: String
    let pathPrefix: String?
    /// Makes the request without its path.
    let request: @Sendable (_ secure: Bool) -> WebSocketRequest

    /// Returns the upgrade request: `/app/{key}` after the path prefix, with the versions of the protocol and of this library.
    func request(secure: Bool) -> WebSocketRequest {
        let prefix = (pathPrefix ?? "").split(separator: "/").map { "/" + String($0).percentEncoded() }.joined()
        let query = "protocol=7&client=swift-pusher-channels&version=\(libraryVersion)"
        var request = request(secure)
        request.path = "\(prefix)/app/\(key.percentEncoded())?\(query)"
        return request
    }
}
