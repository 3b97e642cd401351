#if os(Linux)
import FlyingFox
import Foundation
import PusherChannels
import Testing

@testable import TestSupport

/// The time that a client has to read the last messages and to reply to the close frame.
@Suite struct CloseTimerTests {
    private let scheduler = TestScheduler()
    private let ends = Locked(0)

    /// Returns both ends of a connection whose buffers are full.
    private func fullPair() throws -> (Int32, Int32) {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
        let bytes = [UInt8](repeating: 0, count: 65_536)
        while send(pair[0], bytes, bytes.count, 0) > 0 {}
        return (pair[0], pair[1])
    }

    /// Returns a one-second timer for this connection that has been started.
    private func timer(_ descriptor: Int32) -> CloseTimer {
        let timer = CloseTimer(.seconds(1), scheduler: scheduler)
        _ = timer.beginWaiting(on: descriptor)
        timer.start { [ends] in ends.withLock { $0 += 1 } }
        return timer
    }

    private func canSend(_ descriptor: Int32) -> Bool {
        send(descriptor, [0], 1, Int32(MSG_NOSIGNAL)) == 1 || errno != EPIPE
    }

    @Test func `Who doesn't read is cut when the time is over`() throws {
        let (server, client) = try fullPair()
        defer { for end in [server, client] { close(end) } }
        let timer = timer(server)
        scheduler.advance(by: .milliseconds(999))
        #expect(ends.withLock { $0 } == 0 && canSend(server))
        scheduler.advance(by: .milliseconds(1))
        #expect(ends.withLock { $0 } == 1 && !canSend(server))
        withExtendedLifetime(timer) {}
    }

    /// The sender is on another thread, so it may take the close frame before the timer starts.
    @Test func `The frame may be on its way before the timer hears of it`() async {
        let timer = CloseTimer(.seconds(1), scheduler: scheduler)
        let (frames, output) = AsyncStream.makeStream(of: WSFrame.self)
        output.yield(WSFrame(fin: true, opcode: .close, mask: nil, payload: Data()))
        _ = await timer.next(of: frames)
        timer.start { [ends] in ends.withLock { $0 += 1 } }
        output.yield(WSFrame(fin: true, opcode: .ping, mask: nil, payload: Data()))
        _ = await timer.next(of: frames)
        scheduler.advance(by: .seconds(1))
        #expect(ends.withLock { $0 } == 1, "only the answer is missing")
    }

    /// Senders refill the connection's buffers at once, so every check finds them full.
    @Test func `Who takes a frame now and then is not, for ten times as long`() async throws {
        let (server, client) = try fullPair()
        defer { for end in [server, client] { close(end) } }
        let timer = timer(server)
        let (frames, output) = AsyncStream.makeStream(of: WSFrame.self)
        for second in 1...9 {
            output.yield(WSFrame(fin: true, opcode: .ping, mask: nil, payload: Data()))
            _ = await timer.next(of: frames)
            scheduler.advance(by: .seconds(1))
            #expect(ends.withLock { $0 } == 0 && canSend(server), "\(second)")
        }
        output.yield(WSFrame(fin: true, opcode: .ping, mask: nil, payload: Data()))
        _ = await timer.next(of: frames)
        scheduler.advance(by: .seconds(1))
        #expect(ends.withLock { $0 } == 1 && !canSend(server))
    }

    @Test func `Who has it all and doesn't answer is only called off`() async throws {
        let (server, client) = try fullPair()
        defer { for end in [server, client] { close(end) } }
        let timer = timer(server)
        let (frames, output) = AsyncStream.makeStream(of: WSFrame.self)
        output.yield(.close(code: .normalClosure))
        _ = await timer.next(of: frames)
        output.finish()
        let next = Task { await timer.next(of: frames) }
        #expect(await next.value == nil)
        scheduler.advance(by: .seconds(100))
        #expect(canSend(server))
        #expect(scheduler.pendingTimers.isEmpty)
    }

    /// The peer sees the end only then, and not before the reader has stopped waiting on the descriptor.
    @Test func `The descriptor is given back when all is sent`() async throws {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
        let client = pair[1]
        defer { close(client) }
        let timer = CloseTimer(.seconds(1), scheduler: scheduler)
        _ = timer.beginWaiting(on: pair[0])
        close(pair[0])
        let (frames, output) = AsyncStream.makeStream(of: WSFrame.self)
        output.finish()
        #expect(await timer.next(of: frames) == nil)
        var byte: UInt8 = 0
        #expect(recv(client, &byte, 1, 0) == -1 && errno == EAGAIN, "somebody waits on it")
        timer.endWaiting()
        #expect(recv(client, &byte, 1, 0) == 0)
    }
}
#endif
