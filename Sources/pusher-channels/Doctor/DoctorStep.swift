import PusherChannels

/// A step from the command line to a subscribed channel. The cases are in the order of the steps.
enum DoctorStep: String, CaseIterable, Sendable {
    /// The options, and the files and variables that they name.
    case options
    /// The look-up of the first host's name: the proxy's, or the server's.
    case name
    /// A route to an address of that name.
    case address
    case tcp
    case proxy
    case tls
    case upgrade
    /// The server's `pusher:connection_established`.
    case `protocol`
    case authorization
    case subscription

    /// Creates the step that failed with an error; those before it went well.
    ///
    /// - Parameter isEstablished: Indicates whether the server established the connection before.
    init(failedWith error: PusherError, isEstablished: Bool = true) {
        switch error.kind {
        case .transport(let kind): self.init(failedWith: kind, message: error.message)
        case .invalidRequest: self = .options
        case .authorization: self = .authorization
        case .subscriptionRefused: self = .subscription
        case .timedOut where error.message.hasPrefix("no authorization"): self = .authorization
        case .timedOut where error.message.contains("answer the subscription"): self = .subscription
        // Some servers close a connection whose subscription they don't authorize. With the same code, Reverb refuses an origin.
        case .server where error.code == 4009 && isEstablished: self = .subscription
        case .server, .timedOut, .malformedMessage, .readerTooSlow, .loadPostponed, .tooManyClientEvents, .httpAPI,
            .attemptsExhausted:
            self = .protocol
        }
    }

    /// Creates the step at which a socket failed. If the kind doesn't tell, the message does, in the words of the page "When
    /// connecting fails".
    private init(failedWith kind: TransportError.Kind, message: String) {
        switch kind {
        case .tlsFailed(.invalidConfiguration), .unsupported: self = .options
        case .hostNotFound: self = .name
        case .unreachable: self = .address
        case .connectionRefused: self = .tcp
        case .proxyRefused: self = .proxy
        case .tlsFailed: self = .tls
        case .upgradeRefused: self = .upgrade
        case .noAnswer, .protocolViolation, .connectionLost, .cancelled:
            if message.hasPrefix("No address was found") {
                self = .name
            } else if message.contains("accept the connection") {
                self = .tcp
            } else if message.hasPrefix("Proxy ") {
                self = .proxy
            } else if message.contains("TLS handshake") {
                self = .tls
            } else if message.contains("WebSocket upgrade") || message.contains("like a WebSocket server") {
                self = .upgrade
            } else {
                self = .protocol
            }
        }
    }
}

/// Measures the steps of an attempt, one after the other.
final class DoctorClock: Sendable {
    private let state = Locked((last: ContinuousClock.now, durations: [DoctorStep: Duration]()))

    var durations: [DoctorStep: Duration] { state.withLock { $0.durations } }

    /// Begins to measure another attempt.
    func begin() {
        state.withLock { $0 = (ContinuousClock.now, [:]) }
    }

    /// Notes that a step is over. It began when the one before was over.
    func end(_ step: DoctorStep) {
        state.withLock { state in
            let now = ContinuousClock.now
            state.durations[step] = state.last.duration(to: now)
            state.last = now
        }
    }
}

/// A socket that measures its attempts.
final class TimedWebSocket: WebSocket {
    private let clock: DoctorClock
    private let socket: any WebSocket

    init(_ clock: DoctorClock) {
        self.clock = clock
        #if os(Linux)
        socket = NetworkWebSocket { stage in DoctorStep(rawValue: stage.rawValue).map(clock.end) }
        #else
        socket = DefaultTransport.makeWebSocket()
        #endif
    }

    var delegate: (any WebSocketDelegate)? {
        get { socket.delegate }
        set { socket.delegate = newValue }
    }

    func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        clock.begin()
        socket.open(request, attempt: attempt)
    }

    func send(_ text: String) {
        // It is sent as soon as it is authorized.
        if text.contains(#""pusher:subscribe""#) { clock.end(.authorization) }
        socket.send(text)
    }

    func sendUnlessBusy(_ text: String) { socket.sendUnlessBusy(text) }

    func close(code: UInt16, reason: String) { socket.close(code: code, reason: reason) }

    func setReading(_ reading: Bool) { socket.setReading(reading) }
}
