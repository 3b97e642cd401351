import Logging

/// Does what the machine wants done: the one place where effects meet the world. Used by one thread at a time.
final class EffectRunner: Sendable {
    /// What effects come back with.
    typealias Feedback = @Sendable (Input) -> Void

    private struct State {
        var socket: (any WebSocket)?
        var session: any HTTPSession
        var channelUser: (@Sendable () -> PusherPresenceChannelMember)?
        var authorisations: [SubscriptionAttempt: ChannelAuthorizer.Cancel] = [:]
    }

    let hub: EventHub
    private let target: ConnectionTarget
    private let authorizer: ChannelAuthorizer
    private let environment: PusherEnvironment
    private let logger: Logger
    private let state: Locked<State>

    init(
        target: ConnectionTarget, authorizer: ChannelAuthorizer, hub: EventHub, environment: PusherEnvironment, logger: Logger
    ) {
        self.target = target
        self.authorizer = authorizer
        self.hub = hub
        self.environment = environment
        self.logger = logger
        state = Locked(State(session: environment.httpSession))
    }

    // MARK: What can be replaced

    var session: any HTTPSession {
        get { state.withLock { $0.session } }
        set { state.withLock { $0.session = newValue } }
    }

    var channelUser: (@Sendable () -> PusherPresenceChannelMember)? {
        get { state.withLock { $0.channelUser } }
        set { state.withLock { $0.channelUser = newValue } }
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

    func run(_ effects: [Effect], delegate: any WebSocketDelegate, feedback: @escaping Feedback) {
        var hasDeliveries = false
        for effect in effects {
            switch effect {
            case .deliver:
                hasDeliveries = true
            case .send(let message):
                socket(reportingTo: delegate).send(EnvelopeEncoder.encode(message))
            case .openSocket(let attempt, let secure):
                socket(reportingTo: delegate).open(target.request(secure: secure), attempt: attempt)
            case .closeSocket(_, let code, let reason):
                socket(reportingTo: delegate).close(code: code, reason: reason)
            case .authorise(let attempt, let socketID):
                authorise(attempt, socketID: socketID, feedback: feedback)
            case .cancelAuthorisation(let attempt):
                state.withLock { $0.authorisations.removeValue(forKey: attempt) }?()
            case .openSealed(let event, let secret):
                feedback(.opened(event, SealedData.open(event.data, with: secret)))
            case .log(let level, let message):
                logger.log(level: level.swiftLogLevel, "\(message)")
                hub.debugLog(message)
            }
        }
        if hasDeliveries { hub.deliver(effects) }
    }

    private func authorise(_ attempt: SubscriptionAttempt, socketID: String, feedback: @escaping Feedback) {
        // The entry stands before the question is asked: the answer, which removes it, may come at once.
        state.withLock { $0.authorisations[attempt] = {} }
        let cancel = authorizer.authorise(
            channel: attempt.channel, socketID: socketID, session: session,
            channelUser: { channelUser?().channelData },
            completion: { [weak self] result in
                _ = self?.state.withLock { $0.authorisations.removeValue(forKey: attempt) }
                feedback(.authorised(attempt, result))
            })
        state.withLock { state in
            if state.authorisations[attempt] != nil { state.authorisations[attempt] = cancel }
        }
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
