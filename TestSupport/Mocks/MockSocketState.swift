import PusherChannels

/// What a ``MockWebSocket`` guards with its lock: the attempt, the server, and the reports that wait.
struct MockSocketState: Sendable {
    enum Phase {
        case idle
        case connecting
        case open
    }

    weak var delegate: (any WebSocketDelegate)?
    var isReading = true
    var isReporting = false
    private(set) var phase = Phase.idle
    private(set) var attempt: ConnectionAttempt?
    private(set) var requests: [WebSocketRequest] = []
    private(set) var sent: [SentFrame] = []
    private(set) var unsent: [SentFrame] = []
    private(set) var notices: [ServerMachine.Notice] = []
    private var machine: ServerMachine?
    private var connection: ServerMachine.ConnectionID { .init(requests.count) }
    private var reports: ArraySlice<MockSocketReport> = []
    private var effects: [ServerMachine.Effect] = []

    init(machine: ServerMachine?) {
        self.machine = machine
    }

    /// Takes the next report; none means that reporting ends.
    mutating func nextReport() -> (MockSocketReport, (any WebSocketDelegate)?)? {
        guard let next = reports.first, isReading || !next.isInbound else {
            isReporting = false
            return nil
        }
        reports.removeFirst()
        return (next, delegate)
    }

    // MARK: The client's side

    mutating func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        leaveUnread()
        if phase != .idle {
            end(.failed(WebSocketFailure(.cancelled, "given up for attempt \(attempt)")))
        }
        self.attempt = attempt
        requests.append(request)
        phase = .connecting
        if machine != nil { accept() }
    }

    mutating func send(_ text: String) {
        let frame = SentFrame(text: text, attempt: attempt ?? ConnectionAttempt(0))
        guard phase == .open else { return unsent.append(frame) }
        sent.append(frame)
        tell(.received(text, from: connection))
    }

    mutating func close(code: UInt16, reason: String) {
        leaveUnread()
        switch phase {
        case .idle: return
        case .connecting: end(.failed(WebSocketFailure(.cancelled, "closed before it was open")))
        case .open: end(.closed(code: code, reason: reason))
        }
    }

    /// What was held back is lost when the client has done with the attempt; the report of its end is not.
    private mutating func leaveUnread() {
        guard !isReading else { return }
        reports.removeAll { $0.isUnread }
        isReading = true
    }

    // MARK: The server's side

    @discardableResult
    mutating func accept() -> Bool {
        guard phase == .connecting, let attempt, let request = requests.last else { return false }
        phase = .open
        reports.append(.opened(attempt))
        tell(.opened(connection, path: request.path))
        return true
    }

    mutating func refuse(_ failure: WebSocketFailure) -> Bool {
        guard phase == .connecting else { return false }
        return end(.failed(failure))
    }

    mutating func receive(_ text: String) -> Bool {
        guard phase == .open, let attempt else { return false }
        reports.append(.message(text, attempt))
        return true
    }

    mutating func receiveControlFrame() -> Bool {
        guard phase == .open, let attempt else { return false }
        reports.append(.controlFrame(attempt))
        return true
    }

    mutating func publish(channel: String, event: String, data: String) {
        guard machine != nil else {
            _ = receive(ServerFrame.event(event, channel: channel, data: data))
            return
        }
        machine?.publish(channel: channel, event: event, data: data, into: &effects)
        runEffects()
    }

    /// Ends the attempt: the one place from which its close is reported.
    @discardableResult
    mutating func end(_ closure: WebSocketClosure) -> Bool {
        guard phase != .idle, let attempt else { return false }
        phase = .idle
        reports.append(.closed(closure, attempt))
        tell(.closed(connection))
        return true
    }

    private mutating func tell(_ input: ServerMachine.Input) {
        machine?.handle(input, at: .zero, into: &effects)
        runEffects()
    }

    private mutating func runEffects() {
        let effects = effects
        self.effects.removeAll()
        for effect in effects {
            switch effect {
            case .send(let text, connection): _ = receive(text)
            case .close(connection, let code, let reason): end(.closed(code: code, reason: reason))
            case .notice(let notice): notices.append(notice)
            case .send, .close: break
            }
        }
    }
}
