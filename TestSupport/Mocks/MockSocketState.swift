import PusherChannels

/// The state that a ``MockWebSocket`` guards with its lock: the attempt, what the server must hear, and the reports that wait.
struct MockSocketState: Sendable {
    enum Phase {
        case idle
        case connecting
        case open
    }

    /// The other end of a connection.
    enum Host {
        case server
        /// A script or the test.
        case script
    }

    /// A report, and when it may be given.
    private struct DueReport {
        let report: MockSocketReport
        let time: Instant
    }

    weak var delegate: (any WebSocketDelegate)?
    /// The time of the call under way.
    var now = Instant.origin
    var isReading = true
    var isReporting = false
    /// True while the client is being told that the connection has gone.
    private var isTellingTheEnd = false
    private(set) var phase = Phase.idle
    private(set) var attempt: ConnectionAttempt?
    private(set) var requests: [WebSocketRequest] = []
    private(set) var sent: [SentFrame] = []
    private(set) var unsent: [SentFrame] = []
    /// The socket keeps it; this is kept by the server, for what is to be said at a test's end.
    private weak var server: InMemoryServer?
    /// The server's number of the attempt, once that was accepted.
    private(set) var connection: ServerMachine.ConnectionID?
    private var inputs = Deque<ServerMachine.Input>()
    private var reports: ArraySlice<DueReport> = []
    /// The other end whose upgrade a stall leaves without a response.
    private var stalledUpgrade: Host?
    /// The reports that a stall holds up.
    private var stalled: [MockSocketReport] = []
    private var scripts: SocketScripts
    /// The socket as reports name it.
    let name: String
    private var faults = SocketFaults()
    /// The timer for what is late, and its time.
    private var alarm: (time: Instant, timer: (any ScheduledAction)?)?

    /// A step to take once the lock is let go.
    enum Step {
        case tell(InMemoryServer, ServerMachine.Input)
        case report(MockSocketReport, (any WebSocketDelegate)?)
        case wake(at: Instant)
        case compare(FrameMatcher, SentFrame)
    }

    init(server: InMemoryServer?, name: String) {
        self.server = server
        self.name = name
        scripts = SocketScripts(socket: name)
    }

    /// Takes the next step; none means that this round ends.
    mutating func nextStep() -> Step? {
        isTellingTheEnd = false
        while true {
            // First the timers: a listener of what comes may move the clock at once.
            if canPlay, scripts.isAboutToWait(at: now), let step = scripts.next(at: now) { play(step) }
            if let time = nextTime, alarm?.time != time {
                alarm?.timer?.cancel()
                alarm = (time, nil)
                return .wake(at: time)
            }
            if let server, let input = inputs.popFirst() { return .tell(server, input) }
            if let next = reports.first, isReading || !next.report.isInbound, next.time <= now {
                reports.removeFirst()
                if case .closed = next.report { isTellingTheEnd = true }
                return .report(next.report, delegate)
            }
            if canPlay, let step = scripts.next(at: now) {
                play(step)
            } else if let (matcher, frame) = scripts.nextComparison() {
                return .compare(matcher, frame)
            } else {
                isReporting = false
                return nil
            }
        }
    }

    /// When something that is late goes on by itself.
    private var nextTime: Instant? {
        let late = firstLate.flatMap { isReading || !$0.report.isInbound ? $0.time : nil }
        let pause = canPlay ? scripts.nextTime.flatMap { $0 > now ? $0 : nil } : nil
        return [late, pause].compactMap(\.self).min()
    }

    /// The first report whose time is yet to come; found by halves, as none is before one that was made earlier.
    private var firstLate: DueReport? {
        var (low, high) = (reports.startIndex, reports.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if reports[middle].time > now { high = middle } else { low = middle + 1 }
        }
        return low < reports.endIndex ? reports[low] : nil
    }

    /// Indicates whether there is a connection for a script to go on with; what it has left without one, it is said to have left.
    private var canPlay: Bool { phase != .idle && stalledUpgrade == nil }

    mutating func setAlarm(_ timer: any ScheduledAction) {
        alarm?.timer = timer
    }

    mutating func clearAlarm() {
        alarm?.timer?.cancel()
        alarm = nil
    }

    private mutating func append(_ report: MockSocketReport) {
        // Nothing overtakes what is late.
        let time = max(now + faults.latency, reports.last?.time ?? now) + faults.time(for: report.byteCount)
        reports.append(DueReport(report: report, time: time))
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
        faults.connectionBegins()
        applyFaults()
        let isScripted = scripts.begin()
        if !isScripted, server != nil { accept() }
    }

    mutating func send(_ text: String) {
        let frame = SentFrame(text: text, attempt: attempt ?? ConnectionAttempt(0))
        guard phase == .open else {
            // A client that wasn't told yet that the connection has gone can't know better.
            if reports.isEmpty, !isTellingTheEnd {
                let time =
                    phase == .idle && !requests.isEmpty ? "after the connection was closed" : "before the connection was made"
                scripts.add(Finding(.unheard, "\(frame.summary) was sent on \(name) \(time)"))
            }
            return unsent.append(frame)
        }
        sent.append(frame)
        scripts.received(frame)
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

    /// Drops what was held back: it is lost when the client has done with the attempt; the report of its end is not.
    private mutating func leaveUnread() {
        guard !isReading else { return }
        reports.removeAll { $0.report.isUnread }
        isReading = true
    }

    // MARK: The server's side

    @discardableResult
    mutating func accept(for host: Host = .server) -> Bool {
        guard phase == .connecting, let attempt, let request = requests.last else { return false }
        guard !faults.isStalledFromStart else {
            stalledUpgrade = host
            return false
        }
        stalledUpgrade = nil
        phase = .open
        append(.opened(attempt))
        if host == .server, let id = server?.nextConnection() {
            connection = id
            inputs.append(.opened(id, path: request.path, isSecure: request.secure))
        }
        applyFaults()
        return true
    }

    mutating func refuse(_ failure: WebSocketFailure) -> Bool {
        guard phase == .connecting else { return false }
        return end(.failed(failure))
    }

    /// - Parameter id: The connection that it came on, if a server sent it: an earlier one's messages are lost.
    mutating func receive(_ text: String, on id: ServerMachine.ConnectionID? = nil) -> Bool {
        guard phase == .open, let attempt, id == nil || id == connection else { return false }
        return frame(.message(Array(text.utf8), attempt))
    }

    /// Takes a message that the test has the server send.
    mutating func receiveFromTest(_ text: String, location: String) -> Bool {
        let isOpen = receive(text)
        if !isOpen {
            let summary = SentFrame(text: text, attempt: attempt ?? ConnectionAttempt(0)).summary
            scripts.add(Finding(.unheard, "\(summary), sent at \(location) by the server of \(name), which is not open"))
        }
        return isOpen
    }

    mutating func receiveControlFrame() -> Bool {
        guard phase == .open, let attempt else { return false }
        return frame(.controlFrame(attempt))
    }

    /// A frame comes to the client, unless a fault keeps it.
    private mutating func frame(_ report: MockSocketReport) -> Bool {
        guard !faults.isStalled else {
            stalled.append(report)
            return true
        }
        faults.frameComes()
        append(report)
        applyFaults()
        return true
    }

    /// A close frame comes to the client, unless a fault keeps it.
    ///
    /// - Parameter id: The connection that it came on, if a server sent it.
    /// - Returns: True if there was one to close.
    @discardableResult
    mutating func closeFrame(code: UInt16, reason: String, of id: ServerMachine.ConnectionID? = nil) -> Bool {
        guard phase != .idle, let attempt, id == nil || id == connection else { return false }
        let closure = WebSocketClosure.closed(code: code, reason: reason)
        guard faults.isStalled else { return end(closure) }
        stalled.append(.closed(closure, attempt))
        leaveServer()
        return true
    }

    private mutating func leaveServer() {
        if let connection { inputs.append(.closed(connection)) }
        connection = nil
    }

    /// Ends the attempt: the one place from which its close is reported.
    @discardableResult
    mutating func end(_ closure: WebSocketClosure) -> Bool {
        guard phase != .idle, let attempt else { return false }
        phase = .idle
        stalled = []
        stalledUpgrade = nil
        append(.closed(closure, attempt))
        leaveServer()
        return true
    }

    /// Nobody has the socket any more: the attempt ends without a report. Gives back the server's number of it.
    mutating func abandon() -> ServerMachine.ConnectionID? {
        clearAlarm()
        phase = .idle
        return connection
    }

    // MARK: Scripts and faults

    mutating func addScript(_ steps: [SocketStep], location: String) {
        scripts.add(steps, location: location)
    }

    mutating func compared(_ matcher: FrameMatcher, _ frame: SentFrame, reasons: [String]) {
        scripts.compared(matcher, frame, reasons: reasons)
    }

    private mutating func play(_ step: SocketStep) {
        switch step {
        case .accept: accept(for: .script)
        case .serve: accept()
        case .refuse(let kind): end(.failed(WebSocketFailure(kind, "refused by the script")))
        case .send, .event, .establish: _ = step.message.map { receive($0) }
        case .controlFrame: _ = receiveControlFrame()
        case .close(let code, let reason): closeFrame(code: code, reason: reason)
        case .drop: end(.failed(WebSocketFailure(.connectionLost, "dropped by the script")))
        case .fault(let fault):
            do throws(UnsupportedFault) {
                try fault.check(at: .mockWebSocket)
                faults.addToPresent(fault, whenItIs: phase)
                applyFaults()
            } catch {
                scripts.add(Finding(.unsupportedFault, "\(error)"))
            }
        case .expect, .wait: break
        }
    }

    mutating func inject(_ fault: Fault, onConnection connection: Int?) {
        faults.add(fault, onConnection: connection, whenItIs: phase)
        applyFaults()
    }

    mutating func heal() {
        faults.removeAll()
        let late = stalled
        stalled = []
        for report in late {
            guard case .closed(let closure, _) = report else {
                _ = frame(report)
                continue
            }
            end(closure)
            break
        }
        if let stalledUpgrade { accept(for: stalledUpgrade) }
    }

    private mutating func applyFaults() {
        switch phase {
        case .idle: break
        case .connecting: if let failure = faults.failureToOpen { end(.failed(failure)) }
        case .open: if let failure = faults.failure { end(.failed(failure)) }
        }
    }

    /// The findings for a test's end, but for the connection.
    var findings: [Finding] { scripts.findings + faults.findings(socket: name) }

    /// The finding that the connection is still open.
    var openFinding: Finding? {
        guard phase != .idle, let request = requests.last else { return nil }
        let state = phase == .open ? "open" : "connecting"
        return Finding(.openSocket, "\(name), in memory in the place of \(request.host):\(request.port), is \(state)")
    }
}
