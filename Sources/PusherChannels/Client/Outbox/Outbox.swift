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
    /// The closures that cancel the authorizations under way.
    var authorizations: [AuthorizationID: AuthCall.Cancel] = [:]

    init(session: any HTTPSession) {
        self.session = session
    }
}

/// The way to the server and to those who authorize.
struct Peers: Sendable {
    let target: ConnectionTarget
    let authorizer: ChannelAuthorizer
    let userAuthorizer: UserAuthorizer
}
