import Foundation
import PusherChannels

/// A Channels server in memory, for any number of clients and without sockets. Time passes only if a scheduler is given.
///
/// Clients connect by ``makeWebSocket(file:line:)``, and reach its authorization endpoints and its HTTP API by
/// ``MockSession/init(server:delivery:scheduler:)``. Everything happens within the call that causes it. All members may be called
/// from any thread.
public final class InMemoryServer: Sendable {
    typealias ID = ServerMachine.ConnectionID

    private struct State: Sendable {
        var machine: ServerMachine
        var lastNumber = 0
        var clients: [ID: Weak<MockWebSocket>] = [:]
        var timer = MachineTimer()
        var notices: [ServerMachine.Notice] = []
        var effects = Deque<ServerMachine.Effect>()
        var isRunningEffects = false
        /// The findings of each socket made by this server.
        var socketFindings = SocketFindings()
        var findings: [Finding] = []
    }

    private enum Act {
        case effect(ServerMachine.Effect, MockWebSocket?)
        case webhook(ServerMachine.Webhook, secret: String)
    }

    private let state: Locked<State>
    /// The clock behind its time-outs; `nil` if no time passes.
    let scheduler: (any Scheduler)?
    private let wallClock: @Sendable () -> Date
    private let timeline: Timeline?
    private let webhookSender: WebhookSender

    /// Creates a server without connections.
    ///
    /// - Parameters:
    ///   - machine: The server's logic: its apps, the clients that may connect, and the server that it imitates.
    ///   - scheduler: The clock behind its time-outs; without one, no time passes.
    ///   - wallClock: The clock that the HTTP API's signatures are checked against.
    public convenience init(
        _ machine: ServerMachine = ServerMachine(), scheduler: (any Scheduler)? = nil,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(machine, scheduler: scheduler, wallClock: wallClock, timeline: nil)
    }

    init(
        _ machine: ServerMachine, scheduler: (any Scheduler)?, wallClock: @escaping @Sendable () -> Date, timeline: Timeline?
    ) {
        state = Locked(State(machine: machine))
        webhookSender = WebhookSender(scheduler: scheduler ?? LiveScheduler(), wallClock: wallClock)
        self.scheduler = scheduler
        self.wallClock = wallClock
        self.timeline = timeline
        webhookSender.onOutcome { [weak self] webhook, outcome in
            // Other outcomes are retried, and the session sees them.
            guard case .unsendable(let reason) = outcome else { return }
            self?.state.withLock { $0.findings.append(Finding(.error, "webhook with \(webhook): \(reason)")) }
        }
    }

    /// Makes a socket whose other end is this server, with the server's scheduler.
    public func makeWebSocket(file: String = #fileID, line: Int = #line) -> MockWebSocket {
        makeWebSocket(location: sourceLocation(file, line))
    }

    func makeWebSocket(location: String) -> MockWebSocket {
        let socket = MockWebSocket(
            server: .inMemory(self), scheduler: scheduler ?? LiveScheduler(), timeline: timeline, location: location)
        state.withLock { $0.socketFindings.add(socket) }
        return socket
    }

    /// The findings for a test's end: those of the sockets made by this server, webhooks that could not be sent, and published
    /// events that no backend could have published or that reached nobody.
    public var findings: [Finding] { sockets.all.flatMap(\.socket.all) + ownFindings }

    /// The findings of the sockets made by this server.
    var sockets: SocketFindings { state.withLock { $0.socketFindings } }

    /// The findings that don't belong to a socket.
    var ownFindings: [Finding] { state.withLock { $0.findings } }

    /// Returns whether ``findings`` includes those of a socket.
    func hasMade(_ socket: MockWebSocket) -> Bool { state.withLock { $0.socketFindings.contains(socket) } }

    // MARK: Observations

    /// The connections that are open now.
    public var connections: [ServerMachine.ConnectionInfo] { state.withLock { $0.machine.openConnections } }

    /// The events at the server, in order.
    public var notices: [ServerMachine.Notice] { state.withLock { $0.notices } }

    /// The connections subscribed to a channel.
    public func subscribers(of channel: String) -> [ServerMachine.ConnectionID] {
        state.withLock { $0.machine.subscribers(of: channel) }
    }

    // MARK: Actions

    /// Publishes an event as an app's backend does, in every app unless a key is given.
    ///
    /// An event that a backend could not publish isn't sent and becomes one of the ``findings``: one that is too large, has an
    /// invalid name, or is for an encrypted channel of an app without a master key.
    ///
    /// - Parameters:
    ///   - channel: The channel's name.
    ///   - event: The event's name.
    ///   - data: The event's data, usually JSON text; subscribers receive it as a JSON string.
    ///   - appKey: The key of the app to publish in; `nil` for all apps.
    ///   - file: The file of the call, for reports; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    /// - Returns: The number of connections that the event is sent to. An event that is sent to nobody becomes one of the
    ///   ``findings``, unless a cache channel keeps it.
    @discardableResult
    public func publish(
        channel: String, event: String, data: String, appKey: String? = nil, file: String = #fileID, line: Int = #line
    ) -> Int {
        let place = sourceLocation(file, line)
        timeline?.use("publish of \(event) on \(channel)", at: place)
        let (receivers, finding) = change { machine, _ in
            machine.publish(channel: channel, event: event, data: data, appKey: appKey, location: place)
        }
        if let finding { state.withLock { $0.findings.append(finding) } }
        return receivers
    }

    /// Returns whether a request is for this server. A request below `/apps` that is neither signed nor for one of this server's
    /// apps isn't: such paths are the application's own.
    func serves(_ request: RecordedRequest) -> Bool {
        guard request.isForChannelsServer else { return false }
        let segments = request.apiPath.utf8.split(separator: UInt8(ascii: "/"))
        guard segments.first?.elementsEqual("apps".utf8) == true, request.queryFields["auth_key"] == nil else { return true }
        return state.withLock { state in
            state.machine.apps.contains { segments.dropFirst().first?.elementsEqual($0.id.utf8) == true }
        }
    }

    /// Responds to a request to the HTTP API or to an authorization endpoint.
    public func respond(to request: RecordedRequest) -> StubResponse {
        let unixTime = Int(wallClock().timeIntervalSince1970)
        let response = change { machine, _ in machine.respond(to: request, unixTime: unixTime) }
        // Clients don't read a refusal's text.
        if response.status >= 400, request.isForAuthorization {
            timeline?.note(
                "server",
                "authorizes nothing: \(String(decoding: response.body, as: UTF8.self).trimmingCharacters(in: .newlines))")
        }
        return response
    }

    /// Responds to an authorization request to an app's own backend, wherever that is, posted by a client or by the app in its
    /// place. The request is a form, or JSON, with the socket id of a connection that is open here. A client may post any socket
    /// id, because the connection of a scripted socket is open elsewhere.
    ///
    /// Returns `nil` for other requests, and for calls of the HTTP API, which may name a connection as well.
    func authorize(_ request: RecordedRequest, isOfClient: Bool) -> StubResponse? {
        guard request.method == "POST", !request.isSigned, isOfClient || request.isForAuthorization,
            let socketID = request.authorizationFields["socket_id"]
        else { return nil }
        let app = state.withLock { state -> ServerApp? in
            let connection = state.machine.connections.values.first { $0.socketID.hasBytes(of: socketID) }
            return connection?.app ?? (isOfClient ? state.machine.apps.first : nil)
        }
        return app.map { Authorization(app: $0).response(to: request) { timeline?.note("server", $0) } }
    }

    /// Starts sending webhooks to the apps' backends, in the scheduler's time. Without a scheduler only full batches are
    /// sent.
    ///
    /// Webhooks go through the ``MockSession`` that was made with this server, where a stub or a closure of the test receives
    /// them. If the profile's server sends none (``ServerProfile/sendsWebhooks``), that is one of the ``findings``.
    ///
    /// - Parameters:
    ///   - url: The address that receives the webhooks.
    ///   - kinds: The kinds of events that are sent.
    ///   - appKey: The key of the app; `nil` for all apps.
    public func sendWebhooks(
        to url: String, kinds: Set<WebhookKind> = Set(WebhookKind.allCases), appKey: String? = nil
    ) {
        state.withLock { state in
            state.machine.addWebhook(ServerApp.WebhookEndpoint(url, kinds: kinds), appKey: appKey)
            if let finding = state.machine.finding(ofWebhooksTo: url) { state.findings.append(finding) }
        }
    }

    /// Sends webhooks through a session, which is held weakly because it holds the server.
    func sendWebhooks(through session: MockSession) {
        webhookSender.use { [weak session] in session }
    }

    /// Closes one connection with a close frame.
    public func close(_ connection: ServerMachine.ConnectionID, code: UInt16, reason: String = "") {
        change { machine, _ in machine.close(connection, code: code, reason: reason) }
    }

    /// Indicates whether new connections are told that the server is closing, and closed, as by a server that takes long to stop.
    /// ``shutdown()`` closes those that there are.
    public var isClosing: Bool {
        get { state.withLock { $0.machine.isClosing } }
        set { change { machine, _ in machine.isClosing = newValue } }
    }

    /// Indicates whether what is published on a node of Sockudo's reaches the connections of the others (``ServerProfile/SockudoV2/nodes``).
    public var nodesHearEachOther: Bool {
        get { state.withLock { $0.machine.nodesHearEachOther } }
        set { change { machine, _ in machine.nodesHearEachOther = newValue } }
    }

    /// Forgets the streams of Sockudo's protocol V2, as a restart does; those of all channels unless one is named.
    public func loseStreams(of channel: String? = nil) {
        change { machine, _ in machine.loseStreams(of: channel) }
    }

    /// Closes all connections as the server does when it is stopped. It still accepts new ones, unless ``isClosing``.
    public func shutdown() {
        change { machine, _ in machine.shutdown() }
    }

    // MARK: The sockets' side

    func nextConnection() -> ID {
        state.withLock { state in
            state.lastNumber += 1
            return ID(state.lastNumber)
        }
    }

    func handle(_ input: ServerMachine.Input, from socket: MockWebSocket?) {
        switch input {
        case .opened(let id, _, _): state.withLock { $0.clients[id] = Weak(socket) }
        case .closed(let id): state.withLock { $0.clients[id] = nil }
        case .received, .pong, .timePassed: break
        }
        change { machine, now in machine.handle(input, at: now) }
    }

    /// Changes the machine, and then runs its effects in order and without the lock. In a nested call, the outermost call runs
    /// them.
    @discardableResult
    private func change<Result>(_ body: (inout ServerMachine, Instant) -> Result) -> Result {
        let (result, isOutermost) = state.withLock { state in
            let now = scheduler?.now ?? state.machine.now
            state.machine.now = max(state.machine.now, now)
            let result = body(&state.machine, now)
            state.effects.append(contentsOf: state.machine.takeEffects())
            setTimer(&state)
            defer { state.isRunningEffects = true }
            return (result, !state.isRunningEffects)
        }
        if isOutermost { runEffects() }
        return result
    }

    private func runEffects() {
        while let act = nextAct() {
            switch act {
            case .effect(.send(let text, let id), let socket): socket?.receive(text, on: id)
            case .effect(.ping(let id), let socket): socket?.receivePing(on: id)
            case .effect(.close(let id, let code, let reason), let socket):
                socket?.close(code: code, reason: reason, of: id)
            case .effect: break
            case .webhook(let webhook, let secret): webhookSender.send(webhook, secret: secret)
            }
        }
    }

    private func nextAct() -> Act? {
        state.withLock { state in
            let effect = state.effects.popFirst()
            state.isRunningEffects = effect != nil
            switch effect {
            case nil:
                return nil
            case .notice(let notice)?:
                state.notices.append(notice)
                if notice.isWorthTelling { timeline?.note("server", "\(notice)") }
                if case .publishRefused = notice { state.findings.append(Finding(.error, "\(notice)")) }
                return .effect(.notice(notice), nil)
            case .sendWebhook(let webhook)?:
                return .webhook(webhook, secret: state.machine.secret(ofAppWithKey: webhook.appKey) ?? "")
            case .send(_, let id)?, .ping(let id)?, .close(let id, _, _)?:
                return effect.map { .effect($0, state.clients[id]?.object) }
            }
        }
    }

    private func setTimer(_ state: inout State) {
        guard let scheduler else { return }
        state.timer.set(for: state.machine.nextDeadline, on: scheduler) { [weak self] in
            self?.state.withLock { $0.timer.cancel() }
            self?.change { machine, now in machine.handle(.timePassed, at: now) }
        }
    }
}
