#if os(Linux)
import Dispatch
import Foundation
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// An open connection ends with exactly one report, whichever side ends it, and however.
@Suite(.watchdog) struct ClosingTests {
    /// Returns a server that replies to each client's close, and notes it once the connection has ended.
    private func answering(_ closes: Note<Frame> = Note()) throws -> RawServer {
        try RawServer { connection in
            try connection.upgrade()
            let close = try connection.readFrame()
            try connection.send(close)
            try connection.readToEnd()
            closes.send(close)
        }
    }

    /// A close frame says whether to reconnect, and may arrive while reading is paused.
    @Test(arguments: [RawServer.Ending.finish, .reset], [false, true])
    func `A close frame that arrives while reading is paused is reported after the data before it`(
        ending: RawServer.Ending, secure: Bool
    ) async throws {
        let (paused, sent) = (DispatchSemaphore(value: 0), Note<Void>())
        let server = try RawServer(tls: secure ? .throwaway : nil) { connection in
            try connection.upgrade()
            paused.wait()
            try connection.send(Frame.text("last words").bytes + Frame.close(4001, "go away").bytes)
            if case .reset = ending { connection.resetOnceArrived() } else { connection.finish() }
            sent.send(())
            if case .finish = ending { try connection.readToEnd() }
        }
        let rig = SocketRig()
        await rig.connect(to: server, secure: secure)
        rig.socket.setReading(false)
        await serviceTurn()
        paused.signal()
        await sent.next()
        // A server that has only sent FIN is still there: its data waits until reading resumes, as it should.
        if case .finish = ending { rig.socket.setReading(true) }
        let end = SocketEvent.closed(.closed(code: 4001, reason: "go away"), first)
        #expect(await rig.events.untilClosed() == [.text("last words"), end])
    }

    @Test(arguments: ["127.0.0.1", "localhost", "does-not-exist.invalid"])
    func `A socket that is closed as soon as it is opened reports its end`(host: String) async throws {
        let server = try answering()
        for attempt in 1...20 {
            let rig = SocketRig()
            rig.open(port: server.port, host: host, attempt: attempt)
            rig.socket.close(code: 1000, reason: "")
            let events = await rig.events.untilClosed()
            // The connection never opened, or was closed like any other.
            switch events.last {
            case .closed(.failed(let failure), ConnectionAttempt(attempt)):
                #expect(failure.kind == .cancelled || failure.kind == .hostNotFound)
                #expect(events.count == 1)
            default:
                #expect(events.last == .closed(.closed(code: 1000, reason: ""), ConnectionAttempt(attempt)))
            }
        }
    }

    @Test func `A connection that is closed while it opens is cancelled, and makes room for the next one`() async throws {
        let (asked, gone) = (Note<Void>(), Note<Void>())
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            asked.send(())
            try connection.readToEnd()
            gone.send(())
        }
        for attempt in 1...ConnectLimiter.limit + 1 {
            let rig = SocketRig()
            rig.open(port: server.port, attempt: attempt)
            await asked.next()
            rig.socket.close(code: 1000, reason: "")
            #expect(await rig.events.untilClosed().map(\.failure?.kind) == [.cancelled])
            // The connection is closed, not just forgotten.
            await gone.next()
        }
    }

    @Test func `Closing, sending, or pausing on a socket that was never opened reports nothing`() async {
        let rig = SocketRig()
        rig.socket.close(code: 1000, reason: "")
        rig.socket.send("nobody")
        rig.socket.setReading(false)
        #expect(await rig.isSilent())
    }

    @Test func `Opening a socket that is open closes the earlier connection with 1000`() async throws {
        let closes = Note<Frame>()
        let server = try RawServer { connection in
            try connection.upgrade()
            while true {
                let frame = try connection.readFrame()
                if frame.opcode == 8 { closes.send(frame) }
                try connection.send(frame)
            }
        }
        let rig = SocketRig()
        await rig.connect(to: server)
        rig.open(port: server.port, attempt: 2)
        #expect(await rig.events.next() == .closed(.closed(code: 1000, reason: ""), first))
        #expect(await rig.events.next() == .opened(second))
        #expect(await closes.next() == .close(1000))
        rig.socket.send("still here")
        #expect(await rig.events.next() == .text("still here"))
    }

    @Test func `A socket can be opened again from within the report of its close`() async throws {
        let server = try RawServer { connection in
            try connection.upgrade()
            try connection.send(.close(4200, "reconnect"))
            try connection.readToEnd()
        }
        let rig = SocketRig(
            on: .patient,
            reacting: { socket, event in
                guard case .closed(_, let attempt) = event, attempt.number < 20 else { return }
                socket.open(.toLoopback(port: server.port, secure: false), attempt: attempt.next)
            })
        rig.open(port: server.port)
        for attempt in (1...20).map({ ConnectionAttempt($0) }) {
            #expect(await rig.events.next() == .opened(attempt))
            #expect(await rig.events.next() == .closed(.closed(code: 4200, reason: "reconnect"), attempt))
        }
    }

    // MARK: What is left

    /// Returns after libwebsockets is done with a connection whose end the server saw, which takes it at most one more turn.
    private func settle() async {
        for _ in 1...2 { await serviceTurn() }
    }

    @Test func `A socket that is released closes its connection with 1000 and leaves nothing behind`() async throws {
        let closes = Note<Frame>()
        let server = try answering(closes)
        let (events, tokens) = (SocketEvents(), Tokens())
        do {
            let socket = tokens.makeSocket()
            socket.delegate = events
            socket.open(.toLoopback(port: server.port, secure: false), attempt: first)
            #expect(await events.next() == .opened(first))
        }
        #expect(await events.next() == .closed(.closed(code: 1000, reason: ""), first))
        #expect(await closes.next() == .close(1000))
        await settle()
        #expect(tokens.living == 0)
    }

    // Proves W4.1, W4.21.
    @Test func `A refused upgrade closes the stream, is reported once, and leaves nothing behind`() async throws {
        let ended = Note<Void>()
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
            try connection.readToEnd()
            ended.send(())
        }
        let tokens = Tokens()
        do {
            let rig = SocketRig(socket: tokens.makeSocket())
            rig.open(port: server.port)
            #expect(await rig.events.next()?.failure?.kind == .upgradeRefused(status: 503))
            await ended.next()
            #expect(await rig.isSilent(), "it is reported twice")
        }
        await settle()
        #expect(tokens.living == 0)
    }

    @Test func `A hundred sockets opened and closed at the same time leave nothing behind`() async throws {
        let closes = Note<Frame>()
        let server = try answering(closes)
        let tokens = Tokens()
        await withTaskGroup(of: Void.self) { group in
            for attempt in (1...100).map({ ConnectionAttempt($0) }) {
                group.addTask {
                    let rig = SocketRig(socket: tokens.makeSocket())
                    rig.open(port: server.port, attempt: attempt.number)
                    #expect(await rig.events.next() == .opened(attempt))
                    rig.socket.close(code: 1000, reason: "")
                    #expect(await rig.events.next() == .closed(.closed(code: 1000, reason: ""), attempt))
                }
            }
        }
        for _ in 1...100 { _ = await closes.next() }
        await settle()
        #expect(ProcessTables.connections(toPort: server.port) == 0)
        #expect(tokens.living == 0)
    }
}

/// Makes sockets, and counts those of which something is left: each socket and its connection hold a token through the closure
/// that looks names up.
private final class Tokens: Sendable {
    private final class Token: Sendable {}

    private let references = Locked<[Weak<Token>]>([])

    var living: Int { references.withLock { $0.count { $0.object != nil } } }

    func makeSocket() -> NetworkWebSocket {
        let token = Token()
        references.withLock { $0.append(Weak(object: token)) }
        return NetworkWebSocket(loop: .patient) { host, completion in
            withExtendedLifetime(token) { AddressResolver.shared.resolve(host, completion: completion) }
        }
    }
}
#endif
