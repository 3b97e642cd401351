#if os(Linux)
import Dispatch
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Messages and requests of the SDK's own socket.
@Suite(.watchdog) struct NetworkWebSocketTests {
    // MARK: Messages

    @Test func `Texts of any length, also empty or beyond ASCII, are sent and received unchanged`() async throws {
        let (server, rig) = (try RawServer.echo(), SocketRig())
        await rig.connect(to: server)
        for text in ["hello", "", "grüße 🌍"] + [200, 70_000, 1 << 20].map({ String(repeating: "x", count: $0) }) {
            rig.socket.send(text)
            #expect(await rig.events.next() == .text(text))
        }
        rig.socket.sendUnlessBusy("pong")
        #expect(await rig.events.next() == .text("pong"))
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
        await rig.connect(to: server)
        #expect(await rig.events.untilClosed().map(\.failure?.kind) == [.protocolViolation])
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
        batches.socket.open(.toLoopback(port: server.port, secure: false), attempt: first)
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

    /// Messages that take long to read are read on another thread, and all events of their connection stay in order.
    @Test(arguments: [false, true])
    func `A delegate that is slow with a large message doesn't hold up the loop's other connections`(secure: Bool) async throws {
        let large = String(repeating: "0123456789abcdef", count: 1 << 17)
        let server = try RawServer(tls: secure ? .throwaway : nil) { connection in
            try connection.upgrade()
            while true {
                let text = try connection.readFrame().text
                try connection.send(.text(text == "large" ? large : text))
            }
        }
        let (loop, gate) = (NetworkLoop(timeouts: .long), DispatchSemaphore(value: 0))
        let busy = SocketRig(on: loop, reaction: { if $0 == .text(large) { gate.wait() } })
        let other = SocketRig(on: loop)
        for rig in [busy, other] { await rig.connect(to: server, secure: secure) }
        busy.socket.send("large")
        busy.socket.send("after")
        for number in 0..<100 {
            other.socket.send("\(number)")
            #expect(await other.events.next() == .text("\(number)"))
        }
        gate.signal()
        #expect(await busy.events.next() == .text(large))
        #expect(await busy.events.next() == .text("after"))
    }

    // MARK: The request

    /// The server has shown who it is, so that nobody should be told to do without TLS.
    @Test func `A TLS failure after the handshake is a lost connection`() async throws {
        let server = try RawServer.leavingTLS(after: "\r\n\r\n")
        let rig = SocketRig()
        rig.socket.open(.toLoopback(port: server.port, secure: true), attempt: first)
        let failure = await rig.events.next()?.failure
        #expect(failure?.kind == .connectionLost)
        #expect(failure?.message.contains("useTLS") == false, "\(failure?.message ?? "")")
    }

    // Proves P1.6.
    @Test func `The upgrade request has the given path and headers, but always its own Host header`() async throws {
        let (server, rig) = (try RawServer.replying(), SocketRig())
        let headers = ["X-Trace": "abc 123", "Origin": "https://example.com", "Host": "evil.example"]
        rig.open(port: server.port, host: "localhost", path: "/app/key?protocol=7&client=x", headers: headers)
        let lines = await server.requests.next()?.split(separator: "\r\n").map(String.init) ?? []
        #expect(lines.first == "GET /app/key?protocol=7&client=x HTTP/1.1")
        let own = ["host:", "user-agent:", "x-trace:", "origin:", "sec-websocket-extensions:", "sec-websocket-protocol:"]
        let fields = own.flatMap { name in lines.filter { $0.lowercased().hasPrefix(name) } }
        #expect(
            fields == [
                "Host: localhost:\(server.port)", "User-Agent: swift-pusher-channels/\(libraryVersion)", "X-Trace: abc 123",
                "Origin: https://example.com",
            ])
        withExtendedLifetime(rig) {}
    }

    @Test(arguments: [
        WebSocketRequest(secure: false, host: "", port: 80, path: "/"),
        WebSocketRequest(secure: false, host: "localhost", port: 0, path: "/"),
        WebSocketRequest(secure: false, host: "localhost", port: 80, path: "x"),
        WebSocketRequest(secure: false, host: "localhost", port: 80, path: "/", headers: ["X": "a\r\nb"]),
        WebSocketRequest(secure: true, host: ".", port: 443, path: "/"),
    ])
    func `A connection with an invalid host, port, path or header is refused as unsupported`(request: WebSocketRequest) async {
        let rig = SocketRig()
        rig.socket.open(request, attempt: first)
        #expect(await rig.events.untilClosed().map(\.failure?.kind) == [.unsupported])
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
