/// The connection that the user wants or doesn't want, and the way to it.
struct Session: Equatable, Sendable {
    enum Phase: Equatable {
        case idle
        /// A socket is being opened: name look-up, TCP, TLS, and upgrade.
        case opening(deadline: Instant)
        /// The socket is open; `pusher:connection_established` has not arrived yet.
        case establishing(deadline: Instant)
        case connected(Established)
        case waiting(until: Instant)
        case closing(deadline: Instant, then: AfterClosing)
        /// The client was shut down for good.
        case shutDown
    }

    enum AfterClosing: Equatable {
        case stayDisconnected
        case connect
        case shutDown
    }

    /// The state of an established connection. Every event reads it, so it holds nothing that is reference-counted.
    struct Established: Equatable {
        let since: Instant
        var heartbeat: Heartbeat
    }

    private struct Silence: Equatable {
        var time = Duration.zero
        var losses = 0
    }

    private(set) var phase = Phase.idle {
        didSet { heardAt = nil }
    }
    /// The time of a sign of life since which nothing else has changed the phase or the server's last error.
    private var heardAt: Instant?
    /// The reason for the latest phase change; nil if the user asked for it.
    private(set) var endReason: PusherError?
    var attempt = ConnectionAttempt(0)
    var servers: ServerList
    var secure: Bool
    var backoff: Backoff
    /// Indicates whether the server closed the last connection with a code that asks the client to come back, and no connection
    /// has been established since.
    var isAskedBack = false  // not a mutant: connecting sets it
    /// The last error that the server reported, until it sends another message. It explains a plain close that follows.
    var lastServerError: PusherError? {
        didSet { heardAt = nil }
    }
    /// The number of attempts in a row in which the server has sent nothing after the upgrade, the current one included.
    var silentUpgrades = 0
    /// The time without a message after which established connections were lost, and the number of those in a row.
    private var silence = Silence()
    /// The error that ended the last connection or connection attempt, until another connection is established.
    var lastError: PusherError?
    /// The server's ID for this connection, or for the previous one while there is none. Log lines identify connections by it.
    var lastSocketID: SocketID?

    init(servers: ServerList, backoff: Backoff) {
        self.servers = servers
        secure = servers.isSecure
        self.backoff = backoff
    }

    /// Changes the phase; returns the previous state and the current one if they differ.
    mutating func enter(_ phase: Phase, because reason: PusherError?) -> (old: ConnectionState, new: ConnectionState)? {
        let before = state
        self.phase = phase
        endReason = reason
        return state == before ? nil : (before, state)
    }

    /// Chooses the server of the next attempt.
    mutating func chooseServer(_ choose: (inout ServerList) -> Void) {
        let before = servers.current
        choose(&servers)
        if servers.current != before { secure = servers.isSecure }
    }

    /// Notes the silence after which an established connection ended, if it was lost. A time of a few seconds says nothing.
    mutating func noteEnd(_ closure: WebSocketClosure, at now: Instant) {
        guard let receivedUpTo else { return }
        guard case .failed(let failure) = closure, failure.kind == .connectionLost else { return silence = Silence() }
        let time = now - receivedUpTo
        let isRepeated = time >= .seconds(5) && silence.time - .seconds(1)...silence.time + .seconds(1) ~= time
        silence = Silence(time: time, losses: isRepeated ? silence.losses + 1 : 1)
    }

    /// The silence after which each of the last three connections was lost, if it was the same.
    var repeatedSilence: Duration? { silence.losses >= 3 ? silence.time : nil }

    /// Decides what follows a close that is under way.
    mutating func afterClosing(_ next: AfterClosing) {
        if case .closing(let deadline, _) = phase { phase = .closing(deadline: deadline, then: next) }
    }

    /// Changes the heartbeat of an established connection; returns nil if there is none.
    @discardableResult
    mutating func changeHeartbeat<Result>(_ body: (inout Heartbeat) -> Result) -> Result? {
        guard case .connected(var established) = phase else { return nil }
        let result = body(&established.heartbeat)
        phase = .connected(established)
        return result
    }

    /// Notes a sign of life on an established connection.
    mutating func noteActivity(at now: Instant) {
        if changeHeartbeat({ $0.activity(at: now) }) != nil { heardAt = now }
    }

    /// Returns whether a sign of life that comes now changes nothing: another one came in the same read.
    func hasHeard(at now: Instant) -> Bool { heardAt == now }

    var state: ConnectionState {
        switch phase {
        case .idle, .shutDown: .disconnected
        case .opening, .establishing: .connecting
        case .connected: .connected
        case .waiting: .reconnecting
        case .closing: .disconnecting
        }
    }

    var isIdle: Bool {
        switch phase {
        case .idle, .shutDown: true
        case .opening, .establishing, .connected, .waiting, .closing: false
        }
    }

    /// Indicates whether the client was shut down, so nothing connects it again.
    var isShutDown: Bool {
        switch phase {
        case .shutDown, .closing(_, .shutDown): true
        case .idle, .opening, .establishing, .connected, .waiting, .closing: false
        }
    }

    var nextDeadline: Instant? {
        switch phase {
        case .idle, .shutDown: nil
        case .opening(let deadline), .establishing(let deadline), .closing(let deadline, _): deadline
        case .waiting(let until): until
        case .connected(let established): established.heartbeat.nextDeadline
        }
    }

    private var heartbeat: Heartbeat? {
        if case .connected(let established) = phase { established.heartbeat } else { nil }
    }

    /// The time up to which everything that had arrived was heard; nil without a connection.
    var receivedUpTo: Instant? { heartbeat?.receivedUpTo }

    /// The time of the message before the one that is being handled; nil without a connection.
    var receivedBefore: Instant? { heartbeat?.receivedBefore }
}
