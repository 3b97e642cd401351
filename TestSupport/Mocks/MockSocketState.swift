import PusherChannels

/// The state that a ``MockWebSocket`` guards with its lock: the attempt, the pending inputs for the server, and the pending
/// reports.
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

    /// A report and the time from which it may be delivered.
    private struct DueReport {
        let report: MockSocketReport
        let time: Instant
    }

    weak var delegate: (any WebSocketDelegate)?
    /// The time of the current call.
    var now = Instant.origin { didSet { if now != oldValue { calls = (0, 0) } } }
    var isReading = true
    var isReporting = false
    /// True while the client is being told that the connection has ended.
    private var isTellingTheEnd = false
    private(set) var phase = Phase.idle
    private(set) var attempt: ConnectionAttempt?
    private(set) var requests: [WebSocketRequest] = []
    private(set) var sent: [SentFrame] = []
    private(set) var unsent: [SentFrame] = []
    /// Weak, because the socket keeps the server alive, and the server keeps this state alive for its findings at a test's end.
    private weak var server: InMemoryServer?
    /// The server's number for the attempt, once it has been accepted.
    private(set) var connection: ServerMachine.ConnectionID?
    private var inputs = Deque<ServerMachine.Input>()
    private var reports: ArraySlice<DueReport> = []
    /// The other end whose response to the upgrade is held up by a stall.
    private var stalledUpgrade: Host?
    /// The reports that a stall holds up.
    private var stalled: [MockSocketReport] = []
    private var scripts: SocketScripts
    /// The socket's name in reports.
    let name: String
    private var faults = SocketFaults()
    /// The numbers of the client's calls since the clock moved. A client with many channels sends many frames each time it opens.
    private var calls = (opens: 0, frames: 0)
    /// The numbers of calls at one time from which on the client isn't answered any more, because callbacks answer each other.
    private static let mostCallsAtOnce = (opens: 1_000, frames: 100_000)
    /// The timer for the next delayed report or script step, and its time.
    private var alarm: (time: Instant, timer: (any ScheduledAction)?)?

    /// A step to take once the lock is released.
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

    /// Takes the next step; `nil` means that this round ends.
    mutating func nextStep() -> Step? {
        isTellingTheEnd = false
        while true {
            // Set timers first, because a listener may move the clock immediately.
            if canPlay, scripts.isAboutToWait(at: now), let step = scripts.next(at: now) { play(step) }
            if let time = nextTime, alarm?.time != time {
                alarm?.timer?.cancel()
                alarm = (time, nil)
                return .wake(at: time)
            }
            // Nothing is awaited any more, for example because the connection ended during a pause of its script.
            if nextTime == nil { clearAlarm() }
            if let server, let input = inputs.popFirst() { return .tell(server, input) }
            if let next = reports.first, isReading || !next.report.isInbound, next.time <= now {
                reports.removeFirst()
                if case .closed = next.report { isTellingTheEnd = true }
                // Sockets answer a ping by themselves.
                if case .controlFrame(let its) = next.report, its == attempt, let connection { inputs.append(.pong(connection)) }
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

    /// The time at which something delayed continues by itself.
    private var nextTime: Instant? {
        let late = firstLate.flatMap { isReading || !$0.report.isInbound ? $0.time : nil }
        let pause = canPlay ? scripts.nextTime.flatMap { $0 > now ? $0 : nil } : nil
        return [late, pause].compactMap(\.self).min()
    }

    /// The first report whose time is yet to come, found by binary search: no report is due before one that was made earlier.
    private var firstLate: DueReport? {
        var (low, high) = (reports.startIndex, reports.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if reports[middle].time > now { high = middle } else { low = middle + 1 }
        }
        return low < reports.endIndex ? reports[low] : nil
    }

    /// Indicates whether there is a connection for a script to continue with. Without one, the script's remaining steps are
    /// reported as left over.
    private var canPlay: Bool { phase != .idle && stalledUpgrade == nil }

    mutating func setAlarm(_ timer: any ScheduledAction) {
        alarm?.timer = timer
    }

    mutating func clearAlarm() {
        alarm?.timer?.cancel()
        alarm = nil
    }

    private mutating func append(_ report: MockSocketReport) {
        // Nothing overtakes a delayed report.
        let time = max(now + faults.latency, reports.last?.time ?? now) + faults.time(for: report.byteCount)
        reports.append(DueReport(report: report, time: time))
    }

    // MARK: The client's side

    mutating func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        leaveUnread()
        if phase != .idle {
            end(.failed(TransportError(.cancelled, "given up for attempt \(attempt)")))
        }
        self.attempt = attempt
        requests.append(request)
        phase = .connecting
        calls.opens += 1
        guard isAnswered(calls.opens, atMost: Self.mostCallsAtOnce.opens, "is opened") else { return }
        faults.connectionBegins()
        applyFaults()
        let isScripted = scripts.begin()
        if !isScripted, server != nil { accept() }
    }

    mutating func send(_ text: String) {
        let frame = SentFrame(text: text, attempt: attempt ?? ConnectionAttempt(0))
        calls.frames += 1
        guard isAnswered(calls.frames, atMost: Self.mostCallsAtOnce.frames, "is sent frames") else { return }
        guard phase == .open else {
            // A client that hasn't been told yet that the connection has ended can't know better. What the SDK sends by itself it
            // sends again on the next connection, so that only what the app asked to send is lost.
            if reports.isEmpty, !isTellingTheEnd, !frame.isOfProtocol {
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

    /// Returns whether a call of the client is answered; it may itself be the answer to what the socket reports.
    private mutating func isAnswered(_ count: Int, atMost most: Int, _ action: String) -> Bool {
        if count == most + 1 {
            scripts.add(
                Finding.endless(
                    "\(name) \(action) for the \(count)th time at \(now)",
                    as: "a delegate that connects whenever it hears of a disconnection"))
        }
        return count <= most
    }

    mutating func close(code: UInt16, reason: String) {
        leaveUnread()
        switch phase {
        case .idle: return
        case .connecting: end(.failed(TransportError(.cancelled, "closed before it was open")))
        case .open: end(.closed(code: code, reason: reason))
        }
    }

    /// Drops the frames that were held back. They are lost when the client is done with the attempt; the report of its end is
    /// not.
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

    mutating func refuse(_ failure: TransportError) -> Bool {
        guard phase == .connecting else { return false }
        return end(.failed(failure))
    }

    /// - Parameter id: The connection that it came on, if a server sent it; messages of an earlier connection are lost.
    mutating func receive(_ text: String, on id: ServerMachine.ConnectionID? = nil) -> Bool {
        guard phase == .open, let attempt, id == nil || id == connection else { return false }
        let limit = requests.last?.maximumMessageSize ?? .max
        guard text.utf8.count <= limit else { return end(.failed(ProtocolViolation.messageTooLarge(limit: limit).failure)) }
        return frame(.message(Array(text.utf8), attempt))
    }

    /// Receives a message that the test sends as the server.
    mutating func receiveFromTest(_ text: String, location: String) -> Bool {
        let isOpen = receive(text)
        if !isOpen {
            let summary = SentFrame(text: text, attempt: attempt ?? ConnectionAttempt(0)).summary
            noteUnheard("\(summary), sent at \(location)")
        }
        return isOpen
    }

    /// Notes that the test had the server do something for which there was no connection.
    mutating func noteUnheard(_ act: String) {
        scripts.add(Finding(.unheard, "\(act) by the server of \(name), which has no connection for it"))
    }

    mutating func receiveControlFrame(on id: ServerMachine.ConnectionID? = nil) -> Bool {
        guard phase == .open, let attempt, id == nil || id == connection else { return false }
        return frame(.controlFrame(attempt))
    }

    /// Delivers a frame to the client, unless a fault holds it back.
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

    /// Delivers a close frame to the client, unless a fault holds it back.
    ///
    /// - Parameter id: The connection that it came on, if a server sent it.
    /// - Returns: True if there was one to close.
    @discardableResult
    mutating func closeFrame(code: UInt16, reason: String, of id: ServerMachine.ConnectionID? = nil) -> Bool {
        guard phase != .idle, let attempt, id == nil || id == connection else { return false }
        let closure: WebSocketClosure =
            code == ServerMachine.endWithoutClose
            ? .failed(TransportError(.connectionLost, "ended by the server")) : .closed(code: code, reason: reason)
        guard faults.isStalled else { return end(closure) }
        stalled.append(.closed(closure, attempt))
        leaveServer()
        return true
    }

    private mutating func leaveServer() {
        if let connection { inputs.append(.closed(connection)) }
        connection = nil
    }

    /// Ends the attempt. This is the only place that reports its close.
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

    /// Ends the attempt without a report, because nobody has the socket anymore. Returns the server's number for the attempt.
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
        case .refuse(let kind): end(.failed(TransportError(kind, "refused by the script")))
        case .send, .event, .establish: _ = step.message.map { receive($0) }
        case .controlFrame: _ = receiveControlFrame()
        case .close(let code, let reason): closeFrame(code: code, reason: reason)
        case .drop: end(.failed(TransportError(.connectionLost, "dropped by the script")))
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

    /// The findings for a test's end, except for an open connection.
    var findings: [Finding] { scripts.findings + faults.findings(socket: name) }

    /// The finding that the connection is still open.
    var openFinding: Finding? {
        guard phase != .idle, let request = requests.last else { return nil }
        let state = phase == .open ? "open" : "connecting"
        return Finding(.openSocket, "\(name), in memory in the place of \(request.host):\(request.port), is \(state)")
    }
}
