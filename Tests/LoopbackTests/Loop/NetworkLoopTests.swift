#if os(Linux)
import Dispatch
import Foundation
import Processes
@testable import PusherChannels
import Testing

/// Custom loops, from their first connection to their end.
@Suite(.watchdog) struct NetworkLoopTests {
    // MARK: The end of a loop

    /// The stage of a connection when its loop is shut down.
    enum Stage: CaseIterable, Sendable {
        case resolving, connecting, securing, upgrading, open, paused, closing
        /// It was open, and the socket was opened once more.
        case abandoned
    }

    /// Brings a connection to a stage, and returns it with the objects that keep it there.
    private func bring(to stage: Stage, on loop: NetworkLoop) async throws -> (rig: SocketRig, holding: any Sendable) {
        let reached = Note<Void>()
        let server = try RawServer { connection in
            // Sent also if the client has already given up.
            defer { reached.send(()) }
            switch stage {
            case .securing: break
            case .upgrading: _ = try connection.readRequest()
            default: try connection.upgrade()
            }
            if stage == .closing { _ = try connection.readFrame() }
            reached.send(())
            try connection.readToEnd()
        }
        let rig: SocketRig
        switch stage {
        case .resolving:
            rig = SocketRig(
                on: loop,
                resolve: { _, _ in
                    reached.send(())
                    return {}
                })
            rig.open(port: 80, host: "slow.example")
        case .connecting:
            let full = try FullListener()
            rig = SocketRig(on: loop)
            rig.open(port: full.port)
            await serviceTurn(of: loop)
            return (rig, full)
        case .securing, .upgrading:
            rig = SocketRig(on: loop)
            rig.open(port: server.port, secure: stage == .securing)
        case .open, .paused, .closing, .abandoned:
            rig = SocketRig(on: loop)
            await rig.connect(to: server)
        }
        if stage == .paused { rig.socket.setReading(false) }
        if stage == .closing { rig.socket.close(code: 1000, reason: "") }
        if stage == .abandoned { rig.socket.open(WebSocketRequest(secure: false, host: "", port: 1, path: "/"), attempt: second) }
        await reached.next()
        return (rig, server)
    }

    @Test(arguments: Stage.allCases)
    func `A loop's shutdown ends each connection and releases the loop, whatever stage the connection has reached`(stage: Stage)
        async throws
    {
        let loop = NetworkLoop(timeouts: .long)
        let (rig, holding) = try await bring(to: stage, on: loop)
        // More connections than may open at once, to an endpoint that doesn't accept them.
        let full = try FullListener()
        let waiting = (0..<100).map { _ in SocketRig(on: loop) }
        for rig in waiting { rig.open(port: full.port) }
        let event = Locked(Weak<EventLoop>())
        loop.post { current in event.withLock { $0.object = current } }
        await serviceTurn(of: loop)
        await loop.shutdown()
        let isLetGo = stage == .closing || stage == .abandoned
        let shutDown = WebSocketClosure.failed(TransportError(.cancelled, "The loop was shut down"))
        #expect(await rig.events.next() == .closed(isLetGo ? .closed(code: 1000, reason: "") : shutDown, first))
        #expect(event.withLock { $0.object } == nil)
        withExtendedLifetime((rig, holding, full, waiting)) {}
    }

    @Test func `A loop that was shut down has no connection open, and starts again for the next one`() async throws {
        let server = try RawServer.echo()
        let loop = NetworkLoop(timeouts: .long)
        let rig = SocketRig(on: loop)
        for _ in 1...3 {
            await rig.connect(to: server)
            rig.socket.send("hello")
            #expect(await rig.events.next() == .text("hello"))
            await loop.shutdown()
            #expect(await rig.events.next()?.failure?.kind == .cancelled)
            #expect(ProcessTables.connections(toPort: server.port) == 0)
        }
    }

    @Test func `The shutdown of a loop that never ran returns`() async {
        await NetworkLoop(timeouts: .long).shutdown()
    }

    @Test func `After a shutdown, neither sending, closing nor a late address starts the loop again`() async throws {
        let server = try RawServer.echo()
        let reply = Locked<AddressResolver.Completion?>(nil)
        let loop = NetworkLoop(timeouts: .long)
        var rig: SocketRig? = SocketRig(on: loop)
        let slow = SocketRig(
            on: loop,
            resolve: { _, completion in
                reply.withLock { $0 = completion }
                return {}
            })
        slow.open(port: 80, host: "slow.example")
        await rig?.connect(to: server)
        await loop.shutdown()
        rig?.socket.send("late")
        rig?.socket.setReading(false)
        rig?.socket.close(code: 1000, reason: "")
        rig = nil
        reply.withLock { $0 }?(.success(["127.0.0.1"]))
        #expect(!loop.isRunning)
    }

    @Test func `A command given while a loop shuts down is dropped and released`() async throws {
        final class Token: Sendable {}
        let server = try RawServer.echo()
        let loop = NetworkLoop(timeouts: .long)
        let token = Locked(Weak<Token>())
        // The close is reported while the loop still runs, but commands from this report are no longer carried out.
        let rig = SocketRig(
            on: loop,
            reacting: { socket, event in
                guard case .closed = event else { return }
                socket.setReading(true)
                let asked = Token()
                token.withLock { $0.object = asked }
                loop.post { _ in withExtendedLifetime(asked) {} }
            })
        await rig.connect(to: server)
        await loop.shutdown()
        #expect(await rig.events.next()?.failure?.kind == .cancelled)
        #expect(!loop.isRunning)
        #expect(token.withLock { $0.object } == nil)
    }

    @Test func `A lookup's result that comes after a shutdown doesn't affect a later connection`() async throws {
        let server = try RawServer.replying()
        let replies = Locked<[String: AddressResolver.Completion]>([:])
        let asked = Note<Void>()
        let loop = NetworkLoop(timeouts: .long)
        let rig = SocketRig(
            on: loop,
            resolve: { host, completion in
                replies.withLock { $0[host] = completion }
                asked.send(())
                return {}
            })
        rig.open(port: server.port, host: "old.example")
        await asked.next()
        await loop.shutdown()
        _ = await rig.events.untilClosed()
        rig.open(port: server.port, host: "new.example", attempt: 2)
        await asked.next()
        // A connection that received this reply would fail.
        replies.withLock { $0["old.example"] }?(.failure(TransportError(.hostNotFound, "too late")))
        await serviceTurn(of: loop)
        replies.withLock { $0["new.example"] }?(.success(["127.0.0.1"]))
        #expect(await rig.events.next() == .opened(second))
        await loop.shutdown()
    }

    @Test func `A shutdown of a busy loop ends a connection that was opened shortly before`() async throws {
        let server = try RawServer.echo()
        let (started, goOn) = (Note<Void>(), DispatchSemaphore(value: 0))
        let loop = NetworkLoop(timeouts: .long)
        let rig = SocketRig(on: loop)
        loop.start { _ in
            started.send(())
            goOn.wait()
        }
        await started.next()
        // The loop is busy when these calls are made.
        let stopping = Task { await loop.shutdown() }
        rig.open(port: server.port)
        let again = Task { await loop.shutdown() }
        goOn.signal()
        await stopping.value
        await again.value
        guard case .closed = await rig.events.untilClosed().last else {
            Issue.record("not closed")
            return
        }
        #expect(!loop.isRunning)
    }

    @Test func `A command that keeps posting further commands doesn't hold up a loop's shutdown`() async throws {
        @Sendable func ask(_ loop: EventLoop) { loop.owner.post(ask) }
        let loop = NetworkLoop(timeouts: .long)
        loop.start(ask)
        await loop.shutdown()
        #expect(!loop.isRunning)
    }

    // MARK: Deadlines

    /// Includes deadlines that are due just after libwebsockets has looked for due ones for the last time before it sleeps.
    @Test func `A loop doesn't sleep through a deadline, however soon the deadline is due`() async throws {
        let loop = NetworkLoop(timeouts: .long)
        for microseconds in 0..<300 {
            let fired = Note<Void>()
            loop.start { service in
                let timer = service.timers.makeTimer()
                timer.set(after: .microseconds(microseconds)) { [timer] in
                    withExtendedLifetime(timer) {}
                    fired.send(())
                }
            }
            guard await fired.next() != nil else { break }
        }
        await loop.shutdown()
    }

    /// Each address has its own limit, and all but the last one have another together.
    @Test(arguments: [
        (["127.0.0.2"], NetworkTimeouts(stage: .seconds(86_400), address: .milliseconds(50))),
        (
            ["127.0.0.2", "127.0.0.3", "127.0.0.4"],
            NetworkTimeouts(stage: .seconds(86_400), address: .seconds(86_400), addresses: .milliseconds(90))
        ),
    ])
    func `Addresses that refuse or don't answer give way to the host's next address, in time for its last one`(
        silent: [String], timeouts: NetworkTimeouts
    ) async throws {
        let server = try RawServer.echo()
        let full = try silent.map { try FullListener(address: $0, port: server.port) }
        let loop = NetworkLoop(timeouts: timeouts)
        let rig = SocketRig(on: loop, resolve: resolving(to: ["127.0.0.9", "::1"] + silent + ["127.0.0.1"]))
        rig.open(port: server.port, host: "several.example")
        #expect(await rig.events.next() == .opened(first))
        withExtendedLifetime(full) {}
        await loop.shutdown()
    }

    @Test(arguments: [(1, 5), (2, 5), (3, 4), (5, 2), (9, 1)])
    func `An address gets at most 5 s to answer, and less the more addresses its host has`(count: Int, seconds: Int) {
        #expect(NetworkTimeouts().address(of: count) == .seconds(seconds))
    }

    @Test(arguments: [
        ("6a 6b 6c 4a 4b", "6a 4a 6b 4b 6c"), ("4a 6a 6b 6c", "4a 6a 6b 6c"), ("4a 4b", "4a 4b"), ("6a", "6a"), ("", ""),
    ])
    func `A host's IPv6 and IPv4 addresses are tried by turns`(found: String, tried: String) {
        let addresses = { (text: String) in text.split(separator: " ").map { "\($0)".replacing("6", with: "::") } }
        #expect(AddressResolver.alternating(addresses(found)) == addresses(tried))
    }
}
#endif
