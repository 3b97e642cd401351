#if LocalServer
import Foundation
import PusherChannels

/// The state that the connections of a ``LocalServer`` share: the machine behind one lock, and the receivers of its effects.
final class LocalServerCore: Sendable {
    typealias ID = ServerMachine.ConnectionID
    typealias Change<Result> = (inout ServerMachine, Instant) -> Result

    private struct State {
        var machine: ServerMachine
        /// The frames that wait for each client of the machine.
        var outputs: [ID: FrameQueue] = [:]
        /// The WebSockets of the test's own routes.
        var routed: [ObjectIdentifier: RoutedSocket] = [:]
        var lastNumber = 0
        var isStopping = false
        var timer = MachineTimer()
        var findings = FirstElements<Finding>()
        var events = Deque<LocalServer.Event>()
        var isReporting = false
        /// The webhooks to send once the lock is released, each with its app's secret.
        var webhooks: [(ServerMachine.Webhook, secret: String)] = []
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
        var faults = LocalServerFaults()

        /// Takes the tasks that wait for the last connection to end, if it has ended.
        mutating func takeStopWaiters() -> [CheckedContinuation<Void, Never>] {
            guard outputs.isEmpty, routed.isEmpty else { return [] }
            defer { stopWaiters = [] }
            return stopWaiters
        }
    }

    let stubs = StubList()
    let recorder: RequestRecorder
    private let state: Locked<State>
    private let settings: LocalServer.Settings
    /// Indicates whether a proxy speaks TLS in front of the server.
    let isSecure: Bool
    private let webhookSender: WebhookSender

    init(machine: ServerMachine, settings: LocalServer.Settings, isSecure: Bool) {
        state = Locked(State(machine: machine))
        self.settings = settings
        recorder = RequestRecorder(limit: RequestRecorder.requestLimit, scheduler: settings.scheduler)
        self.isSecure = isSecure
        webhookSender = WebhookSender(scheduler: settings.scheduler, wallClock: settings.wallClock)
        webhookSender.use { settings.httpSession }
        webhookSender.onOutcome { [weak self] webhook, outcome in
            switch outcome {
            case .received(let status): self?.report(.webhook(webhook, status: status, failure: nil))
            case .failed(let failure), .unsendable(let failure):
                self?.report(.webhook(webhook, status: nil, failure: failure))
            }
        }
    }

    /// The largest number of bytes of a client's request or message. There is a limit only if the server is forgetful: its own, or
    /// that of the largest batch, in which each byte takes at most six in JSON.
    var largestBody: Int {
        guard isForgetful else { return .max }
        if let limit = settings.bodyLimit { return limit }
        return ask { max(1 << 20, 1 << 16 + 6 * $0.profile.maximumEventDataLength * $0.profile.maximumBatchLength) }
    }

    /// Indicates whether requests aren't recorded, and large ones are refused.
    var isForgetful: Bool { settings.isForgetful }

    // MARK: State

    var connections: [ServerMachine.ConnectionInfo] { state.withLock { $0.machine.openConnections } }
    var findings: [Finding] { stubs.findings + state.withLock { $0.findings.findings { $0 } } }
    var isStopping: Bool { state.withLock { $0.isStopping } }

    func ask<Result>(_ read: (ServerMachine) -> Result) -> Result {
        state.withLock { read($0.machine) }
    }

    /// Returns the reason why a request isn't served, whatever it asks for.
    func refusal(of request: RecordedRequest) -> String? { settings.allowedHosts?.refusal(of: request) }

    // MARK: Sessions

    func open(path: String, output: FrameQueue) -> ID {
        let id = state.withLock { state in
            state.lastNumber += 1
            let id = ID(state.lastNumber)
            state.outputs[id] = output
            change(&state) { machine, now in
                machine.handle(.opened(id, path: path, isSecure: isSecure), at: now)
            }
            for frame in state.faults.frames { enqueue(frame, id, &state) }
            // The connection came while the server was being stopped.
            if state.isStopping { shutdown(&state) }
            return id
        }
        report()
        return id
    }

    func receive(_ input: ServerMachine.Input) {
        change { machine, now in machine.handle(input, at: now) }
    }

    func send(_ frame: OutgoingFrame, to id: ID) {
        state.withLock { enqueue(frame, id, &$0) }
        report()
    }

    /// Ends a connection of which nothing more is read.
    func end(_ id: ID, saying frame: OutgoingFrame?) {
        if let frame { send(frame, to: id) }
        change { machine, now in machine.handle(.closed(id), at: now) }
        let (output, waiters) = state.withLock { state in
            let output = state.outputs.removeValue(forKey: id)
            return (output, state.takeStopWaiters())
        }
        output?.finish()
        for waiter in waiters { waiter.resume() }
    }

    // MARK: The test's own WebSockets

    func keep(_ socket: RoutedSocket) {
        let isStopping = state.withLock { state in
            state.routed[ObjectIdentifier(socket)] = socket
            socket.send(state.faults.frames)
            return state.isStopping
        }
        if isStopping { socket.close(code: 1001, reason: "the server is being stopped") }
    }

    func forget(_ socket: RoutedSocket) {
        let waiters = state.withLock { state in
            state.routed[ObjectIdentifier(socket)] = nil
            return state.takeStopWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    func find(_ finding: Finding) {
        state.withLock { $0.findings.append(finding) }
    }

    /// The longest time for the end of a connection.
    var closeTimeout: Duration { settings.closeTimeout }

    // MARK: Faults

    var faults: LocalServerFaults { state.withLock { $0.faults } }

    func inject(_ fault: Fault) {
        state.withLock { state in
            state.faults.add(fault)
            let frames = LocalServerFaults.frames(of: fault)
            for id in state.outputs.keys {
                for frame in frames { enqueue(frame, id, &state) }
            }
            for socket in state.routed.values { socket.send(frames) }
        }
        report()
    }

    func heal() {
        state.withLock { $0.faults = LocalServerFaults() }
    }

    // MARK: The machine

    func respond(to request: RecordedRequest) -> StubResponse {
        let unixTime = Int(settings.wallClock().timeIntervalSince1970)
        return change { machine, _ in machine.respond(to: request, unixTime: unixTime) }
    }

    /// Returns a response once its gate is open and its delay is over.
    ///
    /// - Throws: ``UnsupportedFault`` for a response with a fault, `CancellationError` if the server is stopped in the meantime.
    func wait(for response: StubResponse) async throws -> StubResponse {
        if let fault = response.fault {
            let error = UnsupportedFault(fault: fault, seam: .localServer)
            state.withLock { $0.findings.append(Finding(.unsupportedFault, "\(error)")) }
            throw error
        }
        await ResponseWait(of: response, on: settings.scheduler).end()
        try Task.checkCancellation()
        return response
    }

    /// Changes the machine and runs its effects. Frames are queued under the lock, so that they leave in order.
    @discardableResult
    func change<Result>(_ body: Change<Result>) -> Result {
        let result = state.withLock { change(&$0, body) }
        report()
        return result
    }

    @discardableResult
    private func change<Result>(_ state: inout State, _ body: Change<Result>) -> Result {
        let now = settings.scheduler.now
        state.machine.now = max(state.machine.now, now)
        let result = body(&state.machine, now)
        // The timer comes first, because a listener of an effect may move the clock at once.
        setTimer(&state)
        for effect in state.machine.takeEffects() { run(effect, &state) }
        return result
    }

    private func run(_ effect: ServerMachine.Effect, _ state: inout State) {
        switch effect {
        case .send(let text, let id):
            enqueue(.text(text), id, &state)
        case .ping(let id):
            enqueue(.ping, id, &state)
        case .close(let id, let code, let reason):
            if code == ServerMachine.endWithoutClose {
                state.outputs[id]?.cut()
            } else {
                state.outputs[id]?.append(.close(code, reason: reason))
            }
        case .sendWebhook(let webhook):
            state.webhooks.append((webhook, state.machine.secret(ofAppWithKey: webhook.appKey) ?? ""))
        case .notice(let notice):
            if case .publishRefused = notice { state.findings.append(Finding(.error, "\(notice)")) }
            state.events.append(.notice(notice))
        }
    }

    /// Queues a frame for the client to read. If too many frames or bytes wait, the client's connection is closed.
    private func enqueue(_ frame: OutgoingFrame, _ id: ID, _ state: inout State) {
        guard let queue = state.outputs[id], case let waiting = queue.append(frame), !frame.isClose,
            let limit = state.machine.profile.maximumWaitingMessages, waiting > limit || queue.size > RoutedSocket.limit
        else { return }
        change(&state) { machine, _ in
            machine.close(id, code: 4100, reason: "Too many messages wait for this client")
        }
    }

    private func setTimer(_ state: inout State) {
        state.timer.set(for: state.machine.nextDeadline, on: settings.scheduler) { [weak self] in
            self?.state.withLock { $0.timer.cancel() }
            self?.change { machine, now in machine.handle(.timePassed, at: now) }
        }
    }

    // MARK: Reporting

    func report(_ event: LocalServer.Event) {
        state.withLock { $0.events.append(event) }
        report()
    }

    /// Reports events, one after the other and outside the lock.
    private func report() {
        let (isOutermost, webhooks) = state.withLock { state in
            defer {
                state.isReporting = true
                state.webhooks = []
            }
            return (!state.isReporting, state.webhooks)
        }
        for (webhook, secret) in webhooks { webhookSender.send(webhook, secret: secret) }
        guard isOutermost else { return }
        while let event = state.withLock({ state in
            let event = state.events.popFirst()
            state.isReporting = event != nil
            return event
        }) {
            settings.onEvent(event)
        }
    }

    // MARK: Stopping

    func closeAll(code: UInt16, reason: String) {
        state.withLock { state in
            change(&state) { machine, _ in machine.closeAll(code: code, reason: reason) }
            for socket in state.routed.values { socket.close(code: code, reason: reason) }
        }
        report()
    }

    private func shutdown(_ state: inout State) {
        change(&state) { machine, _ in machine.shutdown() }
    }

    /// Closes all connections and returns when the last has ended.
    func stop() async {
        webhookSender.stop()
        state.withLock { state in
            state.isStopping = true
            state.timer.cancel()
            shutdown(&state)
        }
        for socket in state.withLock({ $0.routed.values }) { socket.close(code: 1001, reason: "the server is being stopped") }
        report()
        await withCheckedContinuation { continuation in
            let waiters = state.withLock { state in
                state.stopWaiters.append(continuation)
                return state.takeStopWaiters()
            }
            for waiter in waiters { waiter.resume() }
        }
    }
}
#endif
