import PusherChannels

/// What a ``MockWebSocket`` guards with its lock: the attempt, what the server must hear, and the reports that wait.
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
    private let server: InMemoryServer?
    /// The server's number of the attempt, once that was accepted.
    private(set) var connection: ServerMachine.ConnectionID?
    private var inputs: ArraySlice<ServerMachine.Input> = []
    private var reports: ArraySlice<MockSocketReport> = []

    /// What is to be done once the lock is let go.
    enum Step {
        case tell(InMemoryServer, ServerMachine.Input)
        case report(MockSocketReport, (any WebSocketDelegate)?)
    }

    init(server: InMemoryServer?) {
        self.server = server
    }

    /// Takes the next step; none means that this round ends.
    mutating func nextStep() -> Step? {
        if let server, let input = inputs.popFirst() { return .tell(server, input) }
        guard let next = reports.first, isReading || !next.isInbound else {
            isReporting = false
            return nil
        }
        reports.removeFirst()
        return .report(next, delegate)
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
        if server != nil { accept() }
    }

    mutating func send(_ text: String) {
        let frame = SentFrame(text: text, attempt: attempt ?? ConnectionAttempt(0))
        guard phase == .open else { return unsent.append(frame) }
        sent.append(frame)
        if let connection { inputs.append(.received(text, from: connection)) }
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
        if let id = server?.nextConnection() {
            connection = id
            inputs.append(.opened(id, path: request.path, isSecure: request.secure))
        }
        return true
    }

    mutating func refuse(_ failure: WebSocketFailure) -> Bool {
        guard phase == .connecting else { return false }
        return end(.failed(failure))
    }

    /// - Parameter id: The connection that it came on, if a server sent it: an earlier one's messages are lost.
    mutating func receive(_ text: String, on id: ServerMachine.ConnectionID? = nil) -> Bool {
        guard phase == .open, let attempt, id == nil || id == connection else { return false }
        reports.append(.message(text, attempt))
        return true
    }

    mutating func receiveControlFrame() -> Bool {
        guard phase == .open, let attempt else { return false }
        reports.append(.controlFrame(attempt))
        return true
    }

    /// Ends the attempt: the one place from which its close is reported.
    @discardableResult
    mutating func end(_ closure: WebSocketClosure, of id: ServerMachine.ConnectionID? = nil) -> Bool {
        guard phase != .idle, let attempt, id == nil || id == connection else { return false }
        phase = .idle
        reports.append(.closed(closure, attempt))
        if let connection { inputs.append(.closed(connection)) }
        connection = nil
        return true
    }
}
