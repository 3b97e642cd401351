#if os(Linux)
import Dispatch
import Processes
@testable import PusherChannels
import Testing
import TestSupport

/// A slow peer loses nothing, and doesn't keep the client from reading.
@Suite(.watchdog) struct SlowPeerTests {
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
        withExtendedLifetime(server) {}
    }
}
#endif
