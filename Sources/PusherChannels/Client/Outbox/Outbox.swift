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
    var target: ConnectionTarget
    private let loggedHost: String
    var session: any HTTPSession
    var channelUser: (@Sendable () -> PusherPresenceChannelMember)?
    /// The authorizations under way.
    private(set) var authorizations: [AuthorizationID: AuthorizationCall] = [:]
    /// Those of them that are to be asked for, in the order of their commands.
    var calls: [AuthorizationCall] = []

    init(target: ConnectionTarget, session: any HTTPSession) {
        self.target = target
        loggedHost = target.servers[0].host.withoutSecrets
        self.session = session
    }

    /// Returns the name of a server's host if it isn't the one that the logger names.
    func otherHost(_ server: Int) -> String? {
        let host = target.servers[server].host.withoutSecrets
        return host.hasBytes(of: loggedHost) ? nil : host
    }

    mutating func begin(_ id: AuthorizationID) {
        let call = AuthorizationCall(id, session, channelUser)
        authorizations[id] = call
        calls.append(call)
    }

    mutating func remove(_ id: AuthorizationID) -> AuthorizationCall? { authorizations.removeValue(forKey: id) }
}

/// The way to those who authorize.
struct Peers: Sendable {
    let authorizer: ChannelAuthorizer
    let userAuthorizer: UserAuthorizer
}

/// The requests that open connections: the servers' requests with the application's path.
struct ConnectionTarget: Sendable {
    let key: String
    let pathPrefix: String?
    var `protocol` = PusherProtocol.pusher
    /// The first server, and those to try after it.
    var servers: [PusherServer]
    /// Makes a request without its path.
    let request: @Sendable (PusherServer, _ secure: Bool) -> WebSocketRequest

    /// Returns the upgrade request: `/app/{key}` after the path prefix, with the versions of the protocol and of this library.
    func request(to server: Int, secure: Bool) -> WebSocketRequest {
        let prefix = (pathPrefix ?? "").split(separator: "/").map { "/" + String($0).percentEncoded() }.joined()
        // As protocol 7 has it, a client doesn't get its own events.
        let query =
            switch `protocol` {
            case .pusher: "protocol=7&client=swift-pusher-channels&version=\(libraryVersion)"
            case .sockudo: "protocol=2&client=swift-pusher-channels&version=\(libraryVersion)&echo_messages=false"
            }
        var request = request(servers[server], secure)
        request.path = "\(prefix)/app/\(key.percentEncoded())?\(query)"
        return request
    }
}
