import PusherChannels

/// An in-memory socket, with a Channels server behind it or driven by hand.
///
/// With a server, everything happens immediately: the upgrade, the handshake, and every reply are reported before the call that
/// caused them returns. A call from within a report, such as that of a delegate that subscribes as soon as it is connected,
/// returns first and reports afterward, to preserve the order. All members may be called from any thread; reports come on the
/// thread of the call that caused them, or of a call that was already reporting. No lock is held meanwhile.
public final class MockWebSocket: WebSocket {
    /// The server at the other end.
    public enum Server: Sendable {
        /// A server that accepts every key and every signature. The first connection's socket id is `46123.486095`; later ones
        /// get others, as on a real server.
        case trusting
        /// A server that only accepts signatures made with this secret.
        case checking(secret: String)
        /// A server that the test makes, for this socket alone.
        case machine(ServerMachine)
        /// A server that other sockets are connected to, too.
        case inMemory(InMemoryServer)
        /// No server: the test determines what the socket receives.
        case manual
    }

    private let state: Locked<MockSocketState>
    private let server: InMemoryServer?
    /// The server, if no other socket uses it.
    private let ownServer: InMemoryServer?
    private let scheduler: any Scheduler
    private let timeline: Timeline?
    /// The place where it was made, `Tests.swift:12`.
    private let location: String

    /// Creates a closed socket.
    ///
    /// - Parameters:
    ///   - server: The server behind it.
    ///   - scheduler: The clock of scripts that wait, of latency, and, if its time is virtual, of a server that is made here. In
    ///     real time, no time passes for such a server.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    public convenience init(
        server: Server = .trusting, scheduler: any Scheduler = LiveScheduler(), file: String = #fileID, line: Int = #line
    ) {
        self.init(server: server, scheduler: scheduler, timeline: nil, location: sourceLocation(file, line))
    }

    init(server: Server, scheduler: any Scheduler, timeline: Timeline?, location: String) {
        self.scheduler = scheduler
        self.timeline = timeline
        self.location = location
        ownServer =
            switch server {
            case .trusting: InMemoryServer(Self.machine(secret: nil), scheduler: scheduler.virtualTime)
            case .checking(let secret): InMemoryServer(Self.machine(secret: secret), scheduler: scheduler.virtualTime)
            case .machine(let machine): InMemoryServer(machine, scheduler: scheduler.virtualTime)
            case .inMemory, .manual: nil
            }
        if case .inMemory(let server) = server { self.server = server } else { self.server = ownServer }
        state = Locked(MockSocketState(server: self.server, name: "the socket made at \(location)"))
    }

    /// Creates a closed socket with a trusting server, or with none.
    public convenience init(autoReply: Bool, file: String = #fileID, line: Int = #line) {
        self.init(server: autoReply ? .trusting : .manual, file: file, line: line)
    }

    deinit {
        let connection = state.withLock { $0.abandon() }
        if let server, let connection { server.handle(.closed(connection), from: nil) }
    }

    private static func machine(secret: String?) -> ServerMachine {
        ServerMachine(apps: [], admission: .anyKey(secret: secret), socketIDs: ["46123.486095"])
    }

    // MARK: WebSocket

    /// The receiver of this socket's events; held weakly.
    public var delegate: (any WebSocketDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    /// Opens the socket. With ``Server/manual``, it stays connecting until ``accept(file:line:)`` or ``refuse(_:_:file:line:)``.
    public func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        perform { $0.open(request, attempt: attempt) }
    }

    /// Sends a message to the server; one sent while the socket isn't open is kept in ``unsentFrames``.
    public func send(_ text: String) {
        timeline?.note("sent", text)
        perform { $0.send(text) }
    }

    /// Closes the socket; the other end agrees immediately.
    public func close(code: UInt16, reason: String) {
        perform { $0.close(code: code, reason: reason) }
    }

    /// Holds back (`false`) or delivers (`true`) what the server sends.
    public func setReading(_ reading: Bool) {
        perform { $0.isReading = reading }
    }

    // MARK: The client's side

    /// The messages that were sent, as text.
    public var sentFrames: [String] { frames.map(\.text) }

    /// The messages that were sent, as frames.
    public var frames: [SentFrame] { state.withLock { $0.sent } }

    /// The messages sent while the socket wasn't open, which nobody received.
    public var unsentFrames: [SentFrame] { state.withLock { $0.unsent } }

    /// The requests of all attempts so far.
    public var requests: [WebSocketRequest] { state.withLock { $0.requests } }

    /// The latest attempt; `nil` before the first.
    public var currentAttempt: ConnectionAttempt? { state.withLock { $0.attempt } }

    /// Indicates whether the latest attempt is open.
    public var isOpen: Bool { state.withLock { $0.phase == .open } }

    /// Indicates whether what the server sends is delivered.
    public var isReading: Bool { state.withLock { $0.isReading } }

    /// The notices of the server behind the socket; empty with ``Server/manual``.
    public var notices: [ServerMachine.Notice] { server?.notices ?? [] }

    // MARK: Faults and scripts

    /// Plays a script on the next connection that has none; the server behind the socket, if there is one, takes over on the
    /// first connection after all scripts.
    ///
    /// ```swift
    /// socket.play(.refuse(.connectionRefused))
    /// socket.play(.establish(), .expect("pusher:subscribe news"), .close(code: 4200))
    /// ```
    ///
    /// - Parameters:
    ///   - steps: The connection's events, in order.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    public func play(_ steps: SocketStep..., file: String = #fileID, line: Int = #line) {
        state.withLock { $0.addScript(steps, location: sourceLocation(file, line)) }
    }

    /// Injects a fault into the connection under way and later ones, until ``heal()``.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - connection: The number of the only connection with the fault, starting at 1; `nil` for all.
    /// - Throws: ``UnsupportedFault``.
    public func inject(_ fault: Fault, onConnection connection: Int? = nil) throws(UnsupportedFault) {
        try fault.check(at: .mockWebSocket)
        perform { $0.inject(fault, onConnection: connection) }
    }

    /// Removes all faults; whatever a stall held up comes now.
    public func heal() {
        perform { $0.heal() }
    }

    // MARK: The server's side

    /// Publishes an event as an app's backend would: the client receives it if it is subscribed. With ``Server/manual``, the
    /// client always receives it.
    public func publish(channel: String, event: String, data: String, file: String = #fileID, line: Int = #line) {
        guard let server else {
            serverSendsEvent(event, channel: channel, data: data, file: file, line: line)
            return
        }
        server.publish(channel: channel, event: event, data: data, file: file, line: line)
    }

    /// Lets the attempt under way succeed. For ``Server/manual``. If there is none, that is one of the ``findings``, as with all
    /// that a test has the server do.
    ///
    /// - Returns: True if there was one.
    @discardableResult
    public func accept(file: String = #fileID, line: Int = #line) -> Bool {
        act("accepted", file, line) { $0.accept() }
    }

    /// Lets the attempt under way fail. For ``Server/manual``.
    ///
    /// - Returns: True if there was one.
    @discardableResult
    public func refuse(
        _ kind: TransportError.Kind, _ message: String = "refused by the test", file: String = #fileID, line: Int = #line
    ) -> Bool {
        act("refused", file, line) { $0.refuse(TransportError(kind, message)) }
    }

    /// Sends the handshake's `pusher:connection_established`.
    ///
    /// - Parameters:
    ///   - socketID: The id that the client gets.
    ///   - activityTimeout: The activity time-out in seconds; `nil` leaves it out.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    /// - Returns: True if the socket was open.
    @discardableResult
    public func serverEstablishes(
        socketID: String = "46123.486095", activityTimeout: Int? = 120, file: String = #fileID, line: Int = #line
    ) -> Bool {
        serverSends(ServerFrame.established(socketID: socketID, activityTimeout: activityTimeout), file: file, line: line)
    }

    /// Sends an event; `data` becomes a JSON string in the message, as servers send it.
    ///
    /// - Returns: True if the socket was open.
    @discardableResult
    public func serverSendsEvent(
        _ event: String, channel: String? = nil, data: String? = nil, userID: String? = nil, file: String = #fileID,
        line: Int = #line
    ) -> Bool {
        serverSends(ServerFrame.event(event, channel: channel, data: data, userID: userID), file: file, line: line)
    }

    /// Sends a text message of any content. If the connection was closed, nobody receives it, which is one of the ``findings``.
    ///
    /// - Returns: True if the socket was open.
    @discardableResult
    public func serverSends(_ text: String, file: String = #fileID, line: Int = #line) -> Bool {
        perform { $0.receiveFromTest(text, location: sourceLocation(file, line)) }
    }

    /// Sends a control frame, a WebSocket ping or pong.
    ///
    /// - Returns: True if the socket was open.
    @discardableResult
    public func serverSendsControlFrame(file: String = #fileID, line: Int = #line) -> Bool {
        act("a control frame, sent", file, line) { $0.receiveControlFrame() }
    }

    /// Closes the socket with a close frame.
    ///
    /// - Returns: True if the socket was open.
    @discardableResult
    public func serverCloses(code: UInt16, reason: String = "", file: String = #fileID, line: Int = #line) -> Bool {
        act("closed with \(code)", file, line) { $0.phase == .open && $0.closeFrame(code: code, reason: reason) }
    }

    /// Cuts the connection without a close frame.
    ///
    /// - Returns: True if the socket was open or connecting.
    @discardableResult
    public func drop(file: String = #fileID, line: Int = #line) -> Bool {
        act("dropped", file, line) { $0.end(.failed(TransportError(.connectionLost, "dropped by the test"))) }
    }

    private func act(_ what: String, _ file: String, _ line: Int, _ body: (inout MockSocketState) -> Bool) -> Bool {
        perform { state in
            let isDone = body(&state)
            if !isDone { state.noteUnheard("\(what) at \(sourceLocation(file, line))") }
            return isDone
        }
    }

    func receive(_ text: String, on id: ServerMachine.ConnectionID) {
        perform { $0.receive(text, on: id) }
    }

    func receivePing(on id: ServerMachine.ConnectionID) {
        perform { $0.receiveControlFrame(on: id) }
    }

    func close(code: UInt16, reason: String, of id: ServerMachine.ConnectionID) {
        perform { $0.closeFrame(code: code, reason: reason, of: id) }
    }

    // MARK: Reporting

    /// Changes the state, then reports the consequences to the server and the delegate unless another call is already doing so.
    @discardableResult
    private func perform<Result>(_ change: (inout MockSocketState) -> Result) -> Result {
        let (result, isOutermost) = state.withLock { state in
            state.now = max(state.now, scheduler.now)
            let result = change(&state)
            let isOutermost = !state.isReporting
            state.isReporting = true
            return (result, isOutermost)
        }
        if isOutermost {
            while let step = state.withLock({ $0.nextStep() }) { take(step) }
        }
        return result
    }

    private func take(_ step: MockSocketState.Step) {
        switch step {
        case .tell(let server, let input):
            server.handle(input, from: self)
        case .report(let report, let delegate):
            timeline?.note(report.kind, report.text)
            report.deliver(to: delegate)
        case .compare(let matcher, let frame):
            let reasons = matcher.reasonsAgainst(frame)
            state.withLock { $0.compared(matcher, frame, reasons: reasons) }
        case .wake(let time):
            // A timer must not keep the socket alive; its client does.
            let timer = scheduler.schedule(at: time, label: "mock socket", from: location) { [weak self] in
                self?.perform { $0.clearAlarm() }
            }
            state.withLock { $0.setAlarm(timer) }
        }
    }

    /// The findings for a test's end: script steps that weren't reached or came out of order, faults that a socket doesn't
    /// support or whose only connection never came, what was sent or done where there was no connection for
    /// it, and a connection that is still open. A
    /// ``TestHarness`` asks for them.
    public var findings: [Finding] { lasting().all }

    /// The identity of the socket's state, which lives as long as anyone holds ``lasting``.
    var identity: ObjectIdentifier { ObjectIdentifier(state) }

    /// A closure that returns the findings, even after the socket is deallocated. They include those of the socket's own server,
    /// which nobody else asks for.
    var lasting: @Sendable () -> SocketFindings.Socket {
        { [state, ownServer] in
            let socket = state.withLock { $0 }
            return SocketFindings.Socket(
                findings: socket.findings + (ownServer?.ownFindings ?? []), open: socket.openFinding, name: socket.name,
                requests: socket.requests)
        }
    }
}
