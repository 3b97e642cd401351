import Foundation
import TestSupport
import Testing

struct InMemoryServerTests {
    private let scheduler = TestScheduler()

    private func request(key: String = "local-key", version: Int = 7) -> WebSocketRequest {
        WebSocketRequest(secure: false, host: "server", port: 80, path: "/app/\(key)?protocol=\(version)")
    }

    private func open(
        _ server: InMemoryServer, key: String = "local-key", version: Int = 7
    ) -> (MockWebSocket, SocketRecorder) {
        let (socket, recorder) = (server.makeWebSocket(), SocketRecorder())
        socket.delegate = recorder
        socket.open(request(key: key, version: version), attempt: ConnectionAttempt(1))
        return (socket, recorder)
    }

    @Test func `A client's event reaches the other subscribers before send returns`() {
        let server = InMemoryServer(ServerMachine(apps: [.local], admission: .anyKey(secret: nil)))
        let (ann, bob) = (open(server), open(server))
        for socket in [ann.0, bob.0] { socket.send(#"{"event":"pusher:subscribe","data":{"channel":"private-a"}}"#) }
        ann.0.send(#"{"event":"client-hi","channel":"private-a","data":{}}"#)
        #expect(bob.1.texts.last == #"{"event":"client-hi","channel":"private-a","data":"{}"}"#)
        #expect(ann.1.texts.last?.contains("client-hi") == false)
        ann.0.close(code: 1000, reason: "")
        #expect(server.connections.map(\.id) == [.init(2)])
        #expect(server.publish(channel: "private-a", event: "e", data: "1") == 1)
    }

    /// A real server of soketi's ends like this for minutes.
    @Test func `A server that is closing refuses new connections until it is open again`() async throws {
        try await withTestHarness(profile: .soketi) { harness in
            let pusher = harness.makePusher()
            let recorder = RecordingDelegate(of: pusher)
            pusher.connect()
            harness.server.isClosing = true
            harness.server.shutdown()
            try await harness.advance(by: .seconds(30))
            #expect(!recorder.states.suffix(4).contains(.connected))
            #expect(recorder.errors.last?.code == 4200)
            harness.server.isClosing = false
            try await harness.eventually { pusher.connection.connectionState == .connected }
        }
    }

    @Test func `A socket answers a server's ping frames, unless it is stalled`() throws {
        let server = InMemoryServer(ServerMachine(profile: .sockudoV2), scheduler: scheduler)
        let (socket, recorder) = open(server, version: 2)
        scheduler.advance(by: .seconds(600))
        #expect(recorder.entries.dropFirst(2) == [String](repeating: "#1 control", count: 10)[...])
        try socket.inject(.stall)
        scheduler.advance(by: .seconds(89))
        #expect(server.connections.count == 1)
        scheduler.advance(by: .seconds(1))
        #expect(server.connections.isEmpty)
        socket.heal()
        #expect(recorder.entries.last == "#1 closed 4201 Pong reply not received in time")
    }

    @Test func `A server meets a deadline of a later connection that comes before the one it waits for`() {
        var hasty = ServerApp(id: "hasty", key: "hasty", secret: "s")
        hasty.authorizationTimeout = .seconds(30)
        let server = InMemoryServer(ServerMachine(apps: [.local, hasty]), scheduler: scheduler)
        let (patient, other) = (open(server), open(server, key: "hasty"))
        scheduler.advance(by: .seconds(30))
        #expect(patient.0.isOpen)
        #expect(other.1.entries.last?.contains("closed 4009") == true)
    }

    @Test func `Closing a socket's earlier connection doesn't affect its next one`() {
        let server = InMemoryServer()
        let (socket, recorder) = open(server)
        socket.drop()
        socket.open(request(), attempt: ConnectionAttempt(2))
        server.close(.init(1), code: 4000)
        #expect(socket.isOpen)
        #expect(recorder.entries.count { $0.contains("failed") || $0.contains("closed") } == 1)
        #expect(server.connections.map(\.id) == [.init(2)])
    }

    @Test func `A released socket leaves no connection on the server`() {
        let server = InMemoryServer()
        weak var socket: MockWebSocket?
        do {
            let (opened, _) = open(server)
            socket = opened
        }
        #expect(socket == nil)
        #expect(server.connections.isEmpty)
        #expect(server.publish(channel: "a", event: "e", data: "1") == 0)
    }

    @Test func `A session with a server answers its auth endpoints and HTTP API on any host`() throws {
        let server = InMemoryServer()
        let session = MockSession(server: server, delivery: .immediate)
        for (line, body, status) in [
            ("POST https://any/pusher/auth", "socket_id=1.2&channel_name=private-a", "200"),
            ("POST https://any/pusher/user-auth", "socket_id=1.2", "200"), ("https://any/apps/1/channels?auth_key=x", "", "401"),
        ] {
            #expect(try session.ask(line, body: body).withLock { $0 }?.prefix(4) == "\(status) ", "\(line)")
        }
        #expect(session.unmatchedRequests.isEmpty)
    }

    @Test func `Events published from many threads reach all clients in each publisher's order`() async {
        let server = InMemoryServer()
        let clients = (0..<8).map { _ in open(server) }
        for (socket, _) in clients { socket.send(#"{"event":"pusher:subscribe","data":{"channel":"news"}}"#) }
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<4 {
                group.addTask {
                    for index in 0..<50 { server.publish(channel: "news", event: "e\(sender)", data: "\(index)") }
                }
            }
            for (socket, _) in clients {
                group.addTask { for _ in 0..<50 { socket.send(#"{"event":"pusher:ping","data":{}}"#) } }
            }
        }
        for (_, recorder) in clients {
            for sender in 0..<4 {
                let events = recorder.texts.filter { $0.contains("\"e\(sender)\"") }
                #expect(events == (0..<50).map { #"{"event":"e\#(sender)","channel":"news","data":"\#($0)"}"# })
            }
            #expect(recorder.texts.count { $0.contains("pusher:pong") } == 50)
        }
    }
}

extension SocketRecorder {
    fileprivate var texts: [String] {
        entries.compactMap { entry in entry.firstIndex(of: "{").map { String(entry[$0...]) } }
    }
}
