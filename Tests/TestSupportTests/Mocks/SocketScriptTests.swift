import Testing

@testable import TestSupport

/// A socket with a script or a fault, and a client that consists only of a delegate.
private final class Rig: WebSocketDelegate {
    let time = TestScheduler()
    let socket: MockWebSocket
    private let heard = Locked<[String]>([])
    private let lastAttempt = Locked(0)

    /// The socket's findings, without this file's line numbers.
    var findings: [Finding] {
        socket.findings.map { Finding($0.kind, $0.text.replacing(#/SocketScriptTests.swift:\d+/#, with: "S")) }
    }

    init(server: MockWebSocket.Server = .manual) {
        socket = MockWebSocket(server: server, scheduler: time)
        socket.delegate = self
    }

    /// Returns everything that the delegate received since the last call.
    func take() -> [String] {
        heard.withLock { heard in
            defer { heard = [] }
            return heard
        }
    }

    /// Opens the next connection, and returns what the delegate hears.
    @discardableResult
    func open() -> [String] {
        lastAttempt.withLock { $0 += 1 }
        let request = WebSocketRequest(secure: false, host: "h", port: 1, path: "/app/key?protocol=7")
        socket.open(request, attempt: ConnectionAttempt(lastAttempt.withLock(\.self)))
        return take()
    }

    @discardableResult
    func send(_ text: String = #"{"event":"pusher:ping"}"#) -> [String] {
        socket.send(text)
        return take()
    }

    @discardableResult
    func subscribe(to channel: String) -> [String] { send(ServerRig.subscription(to: channel)) }

    func pass(_ time: Duration) -> [String] {
        self.time.advance(by: time)
        return take()
    }

    func heal() -> [String] {
        socket.heal()
        return take()
    }

    /// Closes the connection, and returns what is found.
    @discardableResult
    func close() -> [Finding] {
        socket.close(code: 1000, reason: "")
        return findings
    }

    func webSocketDidOpen(attempt: ConnectionAttempt) { note("opened") }
    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        if messages.count == 0 { note("control") }
        messages.forEach { _, bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            note((try? JSONValue(parsing: text))?["event"]?.stringValue ?? text)
        }
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        switch closure {
        case .closed(let code, _): note("closed \(code)")
        case .failed(let failure): note("failed \(failure.kind)")
        }
    }

    private func note(_ text: String) { heard.withLock { $0.append(text) } }
}

private let established = opened()
private func opened(_ rest: String...) -> [String] { ["opened", "pusher:connection_established"] + rest }

struct SocketScriptTests {
    @Test func `A script's pause ends with its connection, and the steps after it are reported, not played`() {
        let rig = Rig()
        rig.socket.play(.wait(.seconds(30)), .establish())
        rig.socket.play(.establish(), .wait(.seconds(30)), .close(code: 4200))
        rig.socket.play(.establish(), .wait(.seconds(30)), .close(code: 4200))
        for ends in [{ $0.close(code: 1000, reason: "") }, { $0.close(code: 1000, reason: "") }, { $0.drop() }]
            as [(MockWebSocket) -> Void]
        {
            rig.open()
            rig.time.advance(by: .seconds(10))
            #expect(!rig.time.pendingTimers.isEmpty)
            ends(rig.socket)
            #expect(rig.time.pendingTimers.isEmpty)
        }
        rig.time.advance(by: .seconds(20))
        #expect(rig.findings.map(\.kind) == [.unplayedStep, .unplayedStep, .unplayedStep])
    }

    @Test func `A released socket leaves no timer`() throws {
        let time = TestScheduler()
        for server in [MockWebSocket.Server.manual, .trusting] {
            let socket = MockWebSocket(server: server, scheduler: time)
            try socket.inject(.latency(.seconds(1)))
            socket.play(.establish())
            socket.open(WebSocketRequest(secure: false, host: "h", port: 1, path: "/"), attempt: ConnectionAttempt(1))
            #expect(!time.pendingTimers.isEmpty)
        }
        #expect(time.pendingTimers.isEmpty)
    }

    @Test func `A script may hand the connection over to the server, but not once it has established it`() {
        let rig = Rig(server: .trusting)
        rig.socket.play(.wait(.seconds(1)), .serve)
        rig.open()
        #expect(rig.pass(.seconds(1)) == established)
        #expect(rig.close().isEmpty)
        rig.socket.play(.establish(), .serve)
        _ = rig.take()
        #expect(rig.open() == established)
        let found = rig.close()
        #expect(found.map(\.kind) == [.outOfStep])
        #expect(found.first?.text.contains("step 2 of 2 of") == true)
    }

    @Test func `A script whose connection is refused by a fault is reported, not played`() throws {
        let rig = Rig(server: .trusting)
        try rig.socket.inject(.refused, onConnection: 1)
        rig.socket.play(.establish(), .drop)
        #expect(rig.open() == ["failed connectionRefused"])
        #expect(rig.findings.map(\.kind) == [.unplayedStep])
    }

    @Test func `A script waits for the expected message, whatever the order of its keys`() {
        let rig = Rig()
        rig.socket.play(
            .expect(.json(#"{"event":"pusher:subscribe","data":{"channel":"a"}}"#)), .event("x", channel: "a", data: "1"),
            .expect("pusher:unsubscribe a"), .controlFrame, .send("raw"), .drop)
        #expect(rig.open() == ["opened"])
        #expect(rig.send(#"{"data":{"auth":"k:s","channel":"a"},"event":"pusher:subscribe"}"#) == ["x"])
        let heard = rig.send(#"{"event":"pusher:unsubscribe","data":{"channel":"a"}}"#)
        #expect(heard == ["control", "raw", "failed connectionLost"])
        #expect(rig.findings.isEmpty)
    }

    @Test func `A script that expects a name doesn't take the same characters in other bytes for it`() {
        let rig = Rig()
        rig.socket.play(.establish(), .expect(.event("caf\u{E9}")), .event("x"))
        rig.open()
        #expect(rig.send("{\"event\":\"cafe\u{301}\"}").isEmpty)
        #expect(rig.findings.contains { $0.kind == .outOfStep })
        #expect(rig.send("{\"event\":\"caf\u{E9}\"}") == ["x"])
    }

    @Test func `An unexpected message is reported with the reason, and the script goes on waiting`() {
        let rig = Rig()
        rig.socket.play(.establish(), .expect("pusher:subscribe a"))
        rig.open()
        rig.subscribe(to: "b")
        rig.send("{}")
        let step = "step 2 of 2 of script 1 (S) of the socket made at S"
        #expect(
            rig.findings == [
                Finding(.outOfStep, "\(step) expects pusher:subscribe a, but came pusher:subscribe b: channel is b, not a"),
                Finding(
                    .outOfStep,
                    "\(step) expects pusher:subscribe a, but came {}: "
                        + "event is missing, not pusher:subscribe, channel is missing, not a"),
                Finding(.unplayedStep, "\(step) was not reached: expect pusher:subscribe a"),
                Finding(.openSocket, "the socket made at S, in memory in the place of h:1, is open"),
            ])
        rig.subscribe(to: "a")
        #expect(rig.findings.map(\.kind) == [.outOfStep, .outOfStep, .openSocket])
    }

    @Test func `A message sent early is matched when the script reaches its step`() {
        let rig = Rig()
        rig.socket.play(
            .establish(), .expect("pusher:subscribe a"), .event("x"), .wait(.seconds(1)), .expect("pusher:subscribe b"),
            .event("y"))
        #expect(rig.open() == established)
        #expect(rig.subscribe(to: "a") + rig.subscribe(to: "b") == ["x"])
        #expect(rig.pass(.seconds(1)) == ["y"])
        #expect(rig.close().isEmpty)
    }

    @Test func `A server's script can confirm two subscriptions that arrive together`() throws {
        try withTestHarness { harness in
            let socket = harness.makeWebSocket()
            func confirmed(_ channel: String) -> SocketStep {
                .event("pusher_internal:subscription_succeeded", channel: channel, data: "{}")
            }
            socket.play(
                .establish(), .expect("pusher:subscribe a"), confirmed("a"), .expect("pusher:subscribe b"), confirmed("b"))
            let pusher = harness.makePusher(socket: socket)
            let channels = ["a", "b"].map { pusher.subscribe($0) }
            pusher.connect()
            #expect(channels.allSatisfy { $0.subscribed })
        }
    }

    @Test func `A script's fault that a mock socket can't do is reported and has no effect`() {
        let rig = Rig()
        rig.socket.play(.establish(), .fault(.reset(after: .bytes(200))), .event("x"))
        #expect(rig.open() == opened("x"))
        let text = "mockWebSocket can't do reset(after: bytes(200)); it exists at: networkFaultProxy"
        #expect(rig.close() == [Finding(.unsupportedFault, text)])
    }

    @Test func `A script's matcher may use the socket itself`() {
        let rig = Rig()
        rig.socket.play(.expect(FrameMatcher { [weak socket = rig.socket] _ in socket?.frames.count == 1 }), .event("x"))
        #expect(rig.open() + rig.send("{}") == ["opened", "x"])
    }

    @Test(arguments: [false, true]) func `What a stall holds up comes when the socket is healed, also from a script`(
        isScripted: Bool
    ) throws {
        let rig = Rig(server: .trusting)
        if isScripted { rig.socket.play(.establish()) }
        try rig.socket.inject(.stall)
        #expect(rig.open() == [])
        #expect(rig.heal() == established)
        guard !isScripted else { return }
        try rig.socket.inject(.stall)
        #expect(rig.send() == [])
        #expect(rig.heal() == ["pusher:pong"])
    }

    @Test func `A stall also holds up a close frame, and loses nothing that came before it`() throws {
        let rig = Rig()
        rig.socket.play(.establish(), .fault(.stall), .event("late"), .close(code: 4200))
        #expect(rig.open() == established)
        #expect(rig.heal() == ["late", "closed 4200"])
        rig.open()
        rig.socket.accept()
        try rig.socket.inject(.stall)
        #expect(rig.socket.serverCloses(code: 1000))
        rig.socket.serverSendsEvent("behind the end", channel: "a", data: "")
        #expect(rig.take() == ["opened"])
        #expect(rig.heal() == ["closed 1000"])
    }

    @Test func `A server that closes a stalled connection forgets it at once`() throws {
        let server = InMemoryServer(ServerMachine(apps: [ServerApp(id: "1", key: "key", secret: "secret")]))
        let rig = Rig(server: .inMemory(server))
        #expect(rig.open() == established)
        #expect(server.connections.count == 1)
        try rig.socket.inject(.stall)
        rig.socket.serverCloses(code: 4200)
        #expect(server.connections.isEmpty)
        #expect(rig.heal() == ["closed 4200"])
    }

    @Test func `Scripts that were not played or were cut short are reported`() {
        let rig = Rig()
        rig.socket.play(.expect("a"), .close(code: 1000))
        rig.socket.play(.refuse(.noAnswer))
        rig.socket.play(.establish())
        rig.open()
        rig.close()
        rig.open()
        #expect(
            rig.findings.map(\.text) == [
                "step 1 of 2 of script 1 (S) of the socket made at S was not reached: expect a",
                "step 1 of 1 of script 3 (S) of the socket made at S was not reached: establish",
            ])
    }

    @Test func `A script's wait delays its next step, before and after the connection opens`() {
        let rig = Rig()
        rig.socket.play(.wait(.seconds(2)), .establish(), .wait(.seconds(3)), .event("late"))
        #expect(rig.open() == [])
        #expect(rig.pass(.seconds(2)) == established)
        #expect(rig.pass(.milliseconds(2_999)) == [])
        #expect(rig.pass(.milliseconds(1)) == ["late"])
        #expect(rig.time.pendingTimers.isEmpty)
    }

    /// What each fault does, as on a real socket, is in the fault table.
    @Test(arguments: [
        (Fault.refused, ["failed connectionRefused"]), (.upgradeRefused(status: 503), ["failed upgradeRefused(status: 503)"]),
        (.stall, []), (.stall(after: .frames(1)), established), (.badUTF8, opened("failed protocolViolation")),
        (.reset(after: .frames(1)), opened("failed connectionLost")),
    ])
    func `A fault acts on every connection until it is healed`(fault: Fault, outcome: [String]) throws {
        let rig = Rig(server: .trusting)
        try rig.socket.inject(fault)
        for _ in 0..<2 {
            #expect(rig.open() + rig.send() == outcome)
            rig.close()
            _ = rig.take()
        }
        _ = rig.heal()
        #expect(rig.open() + rig.send() == opened("pusher:pong"))
    }

    @Test func `A fault can be limited to one connection, and acts at once on an open one`() throws {
        let rig = Rig(server: .trusting)
        try rig.socket.inject(.refused, onConnection: 2)
        #expect(rig.open() == established)
        try rig.socket.inject(.reset, onConnection: 1)
        #expect(rig.take() == ["failed connectionLost"])
        #expect(rig.open() == ["failed connectionRefused"])
        #expect(rig.open() == established)
        try rig.socket.inject(.stall)
        rig.socket.publish(channel: "a", event: "b", data: "c")
        #expect(rig.send() == [])
    }

    @Test func `A fault for a connection that never comes is found unless it is healed`() throws {
        let rig = Rig(server: .trusting)
        try rig.socket.inject(.latency(.seconds(1)), onConnection: 1)
        #expect(rig.findings.map(\.kind) == [.unplayedStep])
        rig.open()
        #expect(rig.close() == [])
        for connection in [0, 2] { try rig.socket.inject(.upgradeRefused(status: 503), onConnection: connection) }
        let texts = [0, 2].map { "upgradeRefused(status: 503) is for connection \($0) of the socket made at S, which had 1" }
        #expect(rig.findings == texts.map { Finding(.unplayedStep, $0) })
        _ = rig.heal()
        #expect(rig.findings == [])
    }

    @Test func `A fault injected too late for its connection is found, healed or not`() throws {
        let rig = Rig(server: .trusting)
        rig.open()
        try rig.socket.inject(.refused, onConnection: 1)
        try rig.socket.inject(.latency(.seconds(1)), onConnection: 1)
        rig.close()
        try rig.socket.inject(.badUTF8, onConnection: 1)
        _ = rig.heal()
        let texts = ["refused", "badUTF8"].map { "\($0) came too late for connection 1 of the socket made at S" }
        #expect(rig.findings == texts.map { Finding(.unplayedStep, $0) })
    }

    @Test func `Latency delays messages and never reorders them`() throws {
        let rig = Rig(server: .trusting)
        try rig.socket.inject(.latency(.seconds(2)))
        #expect(rig.open() + rig.pass(.seconds(1)) == [])
        rig.socket.heal()
        rig.socket.send(#"{"event":"pusher:ping"}"#)
        #expect(rig.pass(.milliseconds(999)) == [])
        #expect(rig.pass(.milliseconds(1)) == opened("pusher:pong"))
    }

    @Test func `A fault that needs bytes is refused by a mock socket, with the place that supports it`() {
        let error = #expect(throws: UnsupportedFault.self) {
            try Rig().socket.inject(.truncate(after: .bytes(7)))
        }
        #expect(error?.description == "mockWebSocket can't do truncate(after: bytes(7)); it exists at: networkFaultProxy")
    }
}
