#if os(Linux)
import Dispatch
import Processes
import PusherChannels
import Testing

@Suite(.watchdog) struct NetworkWebSocketTests {
    // MARK: Messages

    @Test func `Texts of any length, also empty or beyond ASCII, are sent and received unchanged`() async throws {
        let server = try RawServer { connection in
            try connection.upgrade()
            while true { try connection.send(Frame.text(connection.readFrame().text)) }
        }
        try await withSocket(to: server) { rig in
            let lengths = [200, 70_000, 1 << 20]
            for text in ["hello", "", "grüße 🌍"] + lengths.map({ String(repeating: "x", count: $0) }) {
                rig.socket.send(text)
                #expect(await rig.events.next() == .text(text))
            }
            rig.socket.sendUnlessBusy("pong")
            #expect(await rig.events.next() == .text("pong"))
        }
    }

    // Proves P12.5.
    @Test func `A message of more than 16 MiB closes the connection with 1009`() async throws {
        let reply = Note<Frame>()
        let server = try RawServer { connection in
            try connection.upgrade()
            let size = 16 * 1024 * 1024 + 1
            try connection.send([0x81, 127] + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) })
            try connection.send([UInt8](repeating: 0x78, count: 65_536))
            reply.send(try connection.readFrame())
        }
        let rig = SocketRig()
        rig.open(port: server.port)
        let events = await rig.events.untilClosed()
        #expect(events.count == 2)
        #expect(events.last?.failure?.kind == .protocolViolation)
        #expect(await reply.next() == .close(1009, "message of more than 16777216 bytes"))
    }

    @Test func `A socket whose reading is paused delivers no further batch, and loses no message`() async throws {
        let server = try RawServer { connection in
            try connection.upgrade()
            for number in 0..<20_000 { try connection.send(.text("\(number)")) }
            try connection.readToEnd()
        }
        // Pauses from within the call that delivers a message: no further batch may follow before reading resumes.
        let batches = BatchCounter()
        batches.socket.open(
            WebSocketRequest(secure: false, host: "127.0.0.1", port: server.port, path: "/"), attempt: first)
        var received = 0
        while received < 20_000 {
            guard let count = await batches.next() else { return }
            received += count
            #expect(await batches.isQuiet())
            batches.socket.setReading(true)
        }
        #expect(received == 20_000)
        #expect(batches.isInOrder)
    }

    // Proves W4.22.
    @Test func `A socket paused before its connection opens delivers messages only after resuming`() async throws {
        let isPaused = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            let request = try connection.readRequest()
            isPaused.wait()
            try connection.send(RawConnection.upgradeHead(for: request) + Frame.text("early").bytes)
            try connection.send(Frame.text(connection.readFrame().text))
            try connection.readToEnd()
        }
        let heard = Locked<[SocketEvent]>([])
        let rig = SocketRig { event in heard.withLock { $0.append(event) } }
        rig.open(port: server.port)
        rig.socket.setReading(false)
        await serviceTurn()
        isPaused.signal()
        #expect(await rig.events.next() == .opened(first))
        await serviceTurn()
        #expect(heard.withLock { $0 } == [.opened(first)])
        rig.socket.send("ping")
        rig.socket.setReading(true)
        #expect(await rig.events.next() == .text("early"))
        #expect(await rig.events.next() == .text("ping"))
    }

    // MARK: The request

    // Proves P1.6.
    @Test func `The upgrade request has the given path and headers, but always its own Host header`() async throws {
        let request = Note<String>()
        let server = try RawServer { connection in
            request.send(try connection.upgrade())
            try connection.readToEnd()
        }
        let rig = SocketRig()
        let headers = ["X-Trace": "abc 123", "Origin": "https://example.com", "Host": "evil.example"]
        rig.open(port: server.port, host: "localhost", path: "/app/key?protocol=7&client=x", headers: headers)
        let lines = await request.next()?.split(separator: "\r\n").map(String.init) ?? []
        #expect(lines.first == "GET /app/key?protocol=7&client=x HTTP/1.1")
        #expect(lines.filter { $0.lowercased().hasPrefix("host:") } == ["Host: localhost:\(server.port)"])
        #expect(lines.contains("User-Agent: swift-pusher-channels/\(libraryVersion)"))
        #expect(lines.contains("X-Trace: abc 123"))
        #expect(lines.filter { $0.lowercased().hasPrefix("origin:") } == ["Origin: https://example.com"])
        #expect(!lines.contains { $0.lowercased().hasPrefix("sec-websocket-extensions") })
        #expect(!lines.contains { $0.lowercased().hasPrefix("sec-websocket-protocol") })
        withExtendedLifetime(rig) {}
    }

    @Test(arguments: [
        WebSocketRequest(secure: false, host: "", port: 80, path: "/"),
        WebSocketRequest(secure: false, host: "localhost", port: 0, path: "/"),
        WebSocketRequest(secure: false, host: "localhost", port: 80, path: "x"),
        WebSocketRequest(secure: false, host: "localhost", port: 80, path: "/", headers: ["X": "a\r\nb"]),
        WebSocketRequest(secure: true, host: ".", port: 443, path: "/"),
    ])
    func `A connection with an invalid host, port, path or header is refused as unsupported`(request: WebSocketRequest)
        async throws
    {
        let rig = SocketRig()
        rig.socket.open(request, attempt: first)
        let events = await rig.events.untilClosed()
        #expect(events.count == 1)
        #expect(events.last?.failure?.kind == .unsupported)
    }
}

/// A delegate that pauses the socket at every batch.
private final class BatchCounter: WebSocketDelegate {
    let socket = NetworkWebSocket(loop: .patient)
    private let counts = Note<Int>()
    private let state = Locked((count: 0, isInOrder: true, batches: 0))

    init() {
        socket.delegate = self
    }

    var isInOrder: Bool { state.withLock { $0.isInOrder } }

    func next() async -> Int? { await counts.next() }

    /// Returns whether no further batch arrived during a few turns of the service thread.
    func isQuiet() async -> Bool {
        let before = state.withLock { $0.batches }
        for _ in 0..<3 { await serviceTurn() }
        return state.withLock { $0.batches } == before
    }

    func webSocketDidOpen(attempt: ConnectionAttempt) {}

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        socket.setReading(false)
        state.withLock { state in
            state.batches += 1
            messages.forEach { _, bytes in
                if String(decoding: bytes, as: UTF8.self) != "\(state.count)" { state.isInOrder = false }
                state.count += 1
            }
        }
        counts.send(messages.count)
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {}
}
#endif
