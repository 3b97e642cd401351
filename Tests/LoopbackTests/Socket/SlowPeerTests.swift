#if os(Linux)
import Dispatch
import Processes
@testable import PusherChannels
import Testing
import TestSupport

/// A slow peer loses nothing, and doesn't keep the client from reading.
@Suite struct SlowPeerTests {
    /// Four megabytes: more than the system buffers for a connection, and for a second one with TLS.
    private static let count = 2000

    /// Reads numbered messages, and returns the position of the first wrong one; nil if there is none.
    private static func firstWrong(of count: Int, from connection: RawConnection) throws -> Int? {
        for number in 0..<count {
            let frame = try connection.readFrame()
            if frame.opcode != 1 || !Numbered.isRight(frame.payload, number) { return number }
        }
        return nil
    }

    /// The messages that the client receives meanwhile.
    enum Inbound: CaseIterable, Sendable {
        case nothing, flood
        /// A flood that waits because reading is paused.
        case pausedFlood
    }

    @Test(arguments: Inbound.allCases, [false, true])
    func `A server that reads slowly gets all messages in order, and the client loses none either`(inbound: Inbound, secure: Bool)
        async throws
    {
        let loop = NetworkLoop(timeouts: .long)
        let goOn = DispatchSemaphore(value: 0)
        let heardAll = Note<Int?>()
        let server = try RawServer(tls: secure ? .throwaway : nil) { connection in
            defer { heardAll.finish() }
            try connection.upgrade()
            goOn.wait()
            let flood = inbound == .nothing ? nil : Flood(over: connection)
            defer { _ = flood?.stop() }
            goOn.wait()
            // Reads a little at a time, each time only after the client has filled the space that became free.
            connection.slowDown(to: 15_001) { waitForServiceTurn(of: loop) }
            heardAll.send(try Self.firstWrong(of: Self.count, from: connection))
            // A client that had paused reads from now on.
            _ = try connection.readFrame()
            try connection.send(.text("end \(flood?.stop() ?? 0)"))
            try connection.readToEnd()
        }
        try await withWatchdog {
            let socket = NetworkWebSocket(loop: loop)
            let delegate = NumberedDelegate()
            socket.delegate = delegate
            socket.open(.toLoopback(port: server.port, secure: secure), attempt: first)
            await delegate.untilOpen()
            let descriptor = try #require(ProcessTables.descriptors(connectedTo: server.port).first)
            server.ports.forEach(ProcessTables.limitBuffers)
            if inbound == .pausedFlood {
                socket.setReading(false)
                await serviceTurn(of: loop)
            }
            goOn.signal()
            if inbound == .pausedFlood { #expect(try await onThread { Readiness.readable.wait(for: descriptor) }) }
            for number in 0..<Self.count { socket.send(Numbered.text(number)) }
            // The buffers behind the socket may take some time to fill up.
            while Readiness.writable.holds(for: descriptor), !Task.isCancelled { await serviceTurn(of: loop) }
            goOn.signal()
            #expect(await heardAll.next() == .some(nil))
            if inbound == .pausedFlood {
                #expect(delegate.count == 0)
                socket.setReading(true)
            }
            socket.send("go on")
            #expect(await delegate.end() == "end \(delegate.count)")
            #expect(delegate.firstWrong == nil)
            #expect((delegate.count == 0) == (inbound == .nothing))
            await loop.shutdown()
        }
        withExtendedLifetime(server) {}
    }
}

/// Large events for a closure that is blocked: the bytes that wait are limited, the server waits, and nothing is lost.
@Suite struct BlockedClosureTests {
    private static let count = 80
    private static let filler = String(repeating: "x", count: 1 << 20)

    /// A libwebsockets socket that reports when it is asked to stop reading.
    private final class WatchedSocket: WebSocket {
        private let socket = NetworkWebSocket(loop: .patient)
        let paused: @Sendable () -> Void

        init(paused: @escaping @Sendable () -> Void) {
            self.paused = paused
        }

        var delegate: (any WebSocketDelegate)? {
            get { socket.delegate }
            set { socket.delegate = newValue }
        }

        func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) { socket.open(request, attempt: attempt) }
        func send(_ text: String) { socket.send(text) }
        func close(code: UInt16, reason: String) { socket.close(code: code, reason: reason) }

        func setReading(_ reading: Bool) {
            socket.setReading(reading)
            if !reading { paused() }
        }
    }

    private func feed(_ connection: RawConnection, _ sent: Locked<Int>) throws {
        try connection.upgrade()
        try connection.send(.text(#"{"event":"pusher:connection_established","data":{"socket_id":"1.1"}}"#))
        _ = try connection.readFrame()
        try connection.send(.text(#"{"event":"pusher_internal:subscription_succeeded","channel":"news","data":{}}"#))
        for number in 0..<Self.count {
            try connection.send(.text(#"{"event":"n","channel":"news","data":"\#(number) \#(Self.filler)"}"#))
            sent.withLock { $0 += 1 }
        }
        try connection.readToEnd()
    }

    @Test(arguments: [false, true])
    func `A closure that blocks makes the server wait, and no event is lost`(secure: Bool) async throws {
        let sent = Locked(0)
        let server = try RawServer(tls: secure ? .throwaway : nil) { try feed($0, sent) }
        let (paused, gate) = (Note<Void>(), DispatchSemaphore(value: 0))
        let environment = PusherEnvironment(makeWebSocket: { WatchedSocket(paused: { paused.send(()) }) })
        let options = PusherClientOptions(
            host: .host("127.0.0.1"), port: server.port, useTLS: secure,
            tls: TLSConfiguration(verification: .insecureAcceptAnyCertificate), maximumMessageSize: 2 << 20,
            timeouts: .patient, pauseLimit: .seconds(86_400))
        let pusher = Pusher(key: "key", options: options, environment: environment)
        let (heard, all) = (Locked<[String]>([]), Note<Void>())
        try await withWatchdog {
            pusher.subscribe("news").bind(eventName: "n") { event in
                if heard.withLock({ $0.isEmpty }) { gate.wait() }
                let number = event.data.map { String($0.prefix { $0 != " " }) } ?? ""
                let count = heard.withLock {
                    $0.append(number)
                    return $0.count
                }
                if count == Self.count { all.send(()) }
            }
            pusher.connect()
            await paused.next()
            // Sixteen wait and the closure has one; the rest is in the system's buffers, and perhaps in a proxy's.
            #expect(sent.withLock { $0 } < 50)
            gate.signal()
            await all.next()
        }
        #expect(heard.withLock { $0 } == (0..<Self.count).map { "\($0)" })
        #expect(pusher.connection.droppedEvents == 0)
        pusher.disconnect()
    }
}
#endif
