import Logging

/// Does what the machine wants done: the one place where effects meet the world. Used by one thread at a time.
final class EffectRunner: Sendable {
    /// What effects come back with.
    typealias Feedback = @Sendable (Input) -> Void

    /// What is being authorised.
    private enum Authorisation: Hashable {
        case channel(SubscriptionAttempt)
        case user(UserMachine.Attempt)
    }

    private struct State {
        var socket: (any WebSocket)?
        var session: any HTTPSession
        var channelUser: (@Sendable () -> PusherPresenceChannelMember)?
        var authorisations: [Authorisation: AuthCall.Cancel] = [:]
    }

    let hub: EventHub
    private let target: ConnectionTarget
    private let authorizer: ChannelAuthorizer
    private let userAuthorizer: UserAuthorizer
    private let environment: PusherEnvironment
    private let logger: Logger
    private let state: Locked<State>

    init(
        target: ConnectionTarget, authorizer: ChannelAuthorizer, userAuthorizer: UserAuthorizer, hub: EventHub,
        environment: PusherEnvironment, logger: Logger
    ) {
        self.target = target
        self.authorizer = authorizer
        self.userAuthorizer = userAuthorizer
        self.hub = hub
        self.environment = environment
        self.logger = logger
        state = Locked(State(session: environment.httpSession))
    }

    // MARK: What can be replaced

    var session: any HTTPSession {
        get { state.withLock { $0.session } }
        set { state.set(\.session, to: newValue) }
    }

    var channelUser: (@Sendable () -> PusherPresenceChannelMember)? {
        get { state.withLock { $0.channelUser } }
        set { state.set(\.channelUser, to: newValue) }
    }

    /// The socket in use; made when it is first needed.
    func socket(reportingTo delegate: any WebSocketDelegate) -> any WebSocket {
        if let socket = state.withLock({ $0.socket }) { return socket }
        let made = environment.makeWebSocket()
        made.delegate = delegate
        return state.withLock { state in
            if let socket = state.socket { return socket }
            state.socket = made
            return made
        }
    }

    /// Puts another socket in place; gives back the one it replaces.
    func replaceSocket(_ socket: any WebSocket) -> (any WebSocket)? {
        state.withLock { state in
            defer { state.socket = socket }
            return state.socket
        }
    }

    // MARK: Running effects

    /// `socketID` is for the log.
    func run(
        _ effects: [Effect], socketID: String?, delegate: any WebSocketDelegate, feedback: @escaping Feedback
    ) {
        var hasDeliveries = false
        for effect in effects {
            switch effect {
            case .deliver(let delivery):
                hasDeliveries = true
                if let line = delivery.logLine { log(line, socketID: socketID) }
            case .send(let message):
                socket(reportingTo: delegate).send(EnvelopeEncoder.encode(message))
            case .openSocket(let attempt, let secure):
                socket(reportingTo: delegate).open(target.request(secure: secure), attempt: attempt)
            case .setReading(let reading):
                socket(reportingTo: delegate).setReading(reading)
            case .pauseLimitReached(let time):
                hub.pauseLimitReached(heardUpTo: time)
            case .closeSocket(_, let code, let reason):
                socket(reportingTo: delegate).close(code: code, reason: reason)
            case .authorise(let attempt, let socketID):
                authorise(attempt, socketID: socketID, feedback: feedback)
            case .cancelAuthorisation(let attempt):
                cancel(.channel(attempt))
            case .authoriseUser(let attempt, let socketID):
                authoriseUser(attempt, socketID: socketID, feedback: feedback)
            case .cancelUserAuthorisation(let attempt):
                cancel(.user(attempt))
            case .openSealed(let event, let secret):
                feedback(.opened(event, SealedData.open(event.data, with: secret)))
            case .log(let level, let message, let channel):
                log(LogLine(level: level, message: message, channel: channel), socketID: socketID)
            }
        }
        if hasDeliveries { hub.deliver(effects) }
    }

    private func log(_ line: LogLine, socketID: String?) {
        var metadata: Logger.Metadata = [:]
        metadata["socket_id"] = socketID.map { "\($0)" }
        metadata["channel"] = line.channel.map { "\($0)" }
        logger.log(level: line.level.swiftLogLevel, "\(line.message)", metadata: metadata)
        hub.debugLog(line.channel.map { "\($0): \(line.message)" } ?? line.message)
    }

    // MARK: Authorisations

    private func authorise(_ attempt: SubscriptionAttempt, socketID: String, feedback: @escaping Feedback) {
        track(.channel(attempt)) { done in
            authorizer.authorise(
                channel: attempt.channel, socketID: socketID, session: session,
                channelUser: { channelUser?().channelData },
                completion: { result in
                    done()
                    feedback(.authorised(attempt, result))
                })
        }
    }

    private func authoriseUser(_ attempt: UserMachine.Attempt, socketID: String, feedback: @escaping Feedback) {
        track(.user(attempt)) { done in
            userAuthorizer.authorise(socketID: socketID, session: session) { result in
                done()
                feedback(.userAuthorised(attempt, result))
            }
        }
    }

    /// Keeps what cancels an authorisation until it is done. The entry stands before the question is asked: the answer, which
    /// removes it, may come at once.
    private func track(_ authorisation: Authorisation, _ ask: (@escaping @Sendable () -> Void) -> AuthCall.Cancel) {
        state.withLock { $0.authorisations[authorisation] = {} }
        let cancel = ask { [weak self] in
            self?.state.letGo { $0.authorisations.removeValue(forKey: authorisation) }
        }
        state.withLock { state in
            if state.authorisations[authorisation] != nil { state.authorisations[authorisation] = cancel }
        }
    }

    private func cancel(_ authorisation: Authorisation) {
        state.withLock { $0.authorisations.removeValue(forKey: authorisation) }?()
    }
}

extension LogLevel {
    fileprivate var swiftLogLevel: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        }
    }
}
