#if os(Linux)
import Dispatch
import Foundation
import Glibc
import Processes
@testable import PusherChannels
import TestSupport
import Testing

@Suite(.watchdog) struct IdleLoopTests {
    /// The reason why a connection has nothing to do.
    enum Idleness: CaseIterable, Sendable {
        /// Neither side has sent anything.
        case quiet
        /// Data has arrived, but reading is paused.
        case paused
        /// The server doesn't read the client's data.
        case blocked
        /// Reading is paused, and the server doesn't read either.
        case pausedAndBlocked
        /// The server has sent FIN after data that waits because reading is paused.
        case pausedAtTheEnd
        /// The server doesn't reply to the upgrade request.
        case unanswered

        var pauses: Bool { self == .paused || self == .pausedAndBlocked || self == .pausedAtTheEnd }
        var blocks: Bool { self == .blocked || self == .pausedAndBlocked }
    }

    @Test(arguments: Idleness.allCases, [false, true])
    func `A loop whose connections have nothing to do sleeps, even if unread or unsent data waits`(
        idleness: Idleness, secure: Bool
    ) async throws {
        let loop = NetworkLoop(timeouts: .long)
        let (reached, goOn, isOver) = (Note<Void>(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = try RawServer(tls: secure ? .throwaway : nil) { connection in
            if idleness == .unanswered {
                _ = try connection.readRequest()
            } else {
                try connection.upgrade()
                goOn.wait()
            }
            if idleness.pauses { try connection.send([UInt8](repeating: 0, count: 100)) }
            if idleness == .pausedAtTheEnd { connection.finish() }
            reached.send(())
            // Doesn't read, so the client's data stays in the buffers.
            isOver.wait()
        }
        defer { isOver.signal() }
        let rig = SocketRig(on: loop)
        rig.socket.open(.toLoopback(port: server.port, secure: secure), attempt: first)
        if idleness != .unanswered { #expect(await rig.events.next() == .opened(first)) }
        if idleness.pauses { rig.socket.setReading(false) }
        await serviceTurn(of: loop)
        goOn.signal()
        await reached.next()
        let descriptor = try #require(ProcessTables.descriptors(connectedTo: server.port).first)
        if idleness.pauses { #expect(try await onThread { Readiness.readable.wait(for: descriptor) }) }
        server.ports.forEach(ProcessTables.limitBuffers)
        repeat {
            // Repeated until all buffers are full: the systems' at both ends, and those of a proxy between them.
            if idleness.blocks { rig.socket.send(String(repeating: "x", count: 1 << 20)) }
            #expect(try await sleeps(loop))
        } while idleness.blocks && Readiness.writable.holds(for: descriptor)
        // The connection still exists, so the loop slept with it open.
        #expect(ProcessTables.descriptors(connectedTo: server.port) == [descriptor])
        await loop.shutdown()
    }

    @Test func `A loop whose connections wait for servers sleeps while no deadline is due`() async throws {
        let full = try FullListener()
        let loop = NetworkLoop(timeouts: .long)
        let rigs = (0..<10).map { _ in SocketRig(on: loop) }
        for rig in rigs { rig.open(port: full.port) }
        #expect(try await sleeps(loop))
        await loop.shutdown()
    }

    /// A forked child that runs no other program also has all sockets. Here a duplicate descriptor in this process takes its
    /// place.
    @Test(arguments: [false, true])
    func `A socket that a forked child also holds is closed, and its loop sleeps afterwards`(isOpen: Bool) async throws {
        let loop = NetworkLoop(timeouts: .long)
        let (asked, ended) = (Note<Void>(), Note<Void>())
        let server = try RawServer { connection in
            if isOpen { try connection.upgrade() } else { _ = try connection.readRequest() }
            asked.send(())
            if isOpen { try connection.send(connection.readFrame()) }
            _ = connection.readRest()
            ended.send(())
        }
        let rig = SocketRig(on: loop)
        rig.open(port: server.port)
        await asked.next()
        if isOpen { #expect(await rig.events.next() == .opened(first)) }
        let inherited = dup(try #require(ProcessTables.descriptors(connectedTo: server.port).first))
        defer { close(inherited) }
        rig.socket.close(code: 1000, reason: "")
        _ = await rig.events.untilClosed()
        await ended.next()
        #expect(try await sleeps(loop))
        await loop.shutdown()
    }

    /// Returns whether the loop's thread sleeps while another loop exchanges messages. At first it may still have something to
    /// do.
    private func sleeps(_ loop: NetworkLoop) async throws -> Bool {
        let number = Note<String?>()
        loop.post { _ in number.send(ProcessTables.currentThread) }
        let thread = try #require(await number.next() ?? nil)
        let server = try RawServer.echo()
        let other = NetworkLoop(timeouts: .long)
        let rig = SocketRig(on: other)
        await rig.connect(to: server)
        var (looks, latest) = (0, try ProcessTables.state(ofThread: thread))
        while looks < 30, !Task.isCancelled {
            rig.socket.send("meanwhile")
            guard await rig.events.next() == .text("meanwhile") else { return false }
            let state = try ProcessTables.state(ofThread: thread)
            looks = state.isAsleep && state == latest ? looks + 1 : 0
            latest = state
        }
        await other.shutdown()
        return looks == 30
    }
}
#endif
