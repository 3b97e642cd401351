#if os(Linux)
import Dispatch
import Processes
@testable import PusherChannels
import Testing
import TestSupport

@Suite(.watchdog) struct SlowPeerTests {
    /// Four megabytes: more than the system buffers for a connection, and for a second one with TLS.
    private static let count = 2000

    /// Returns a text whose number shows if one is missing, early or damaged: from a few bytes to more than one read brings, with
    /// each length of a frame's header among them.
    private static func text(_ number: Int) -> String {
        "\(number) " + String(repeating: "x", count: number % 64 == 63 ? 70_000 : number * 37 % 2000)
    }

    @Test(arguments: [false, true])
    func `A server that reads late and slowly gets all messages in order, and the client reads all of the server's meanwhile`(
        secure: Bool
    ) async throws {
        let loop = NetworkLoop(timeouts: .long)
        let goOn = DispatchSemaphore(value: 0)
        let firstWrong = Note<Int?>()
        let server = try RawServer(tls: secure ? .throwaway : nil) { connection in
            defer { firstWrong.finish() }
            try connection.upgrade()
            goOn.wait()
            // Ends only if the client reads, although its own messages aren't taken.
            for number in 0..<Self.count { try connection.send(.text(Self.text(number))) }
            // Reads a little at a time, each time only after the client has filled the space that became free.
            connection.slowDown(to: 15_001) { waitForServiceTurn(of: loop) }
            firstWrong.send(try (0..<Self.count).first { try connection.readFrame() != .text(Self.text($0)) })
            try connection.readToEnd()
        }
        let rig = SocketRig(on: loop)
        await rig.connect(to: server, secure: secure)
        let descriptor = try #require(ProcessTables.descriptors(connectedTo: server.port).first)
        server.ports.forEach(ProcessTables.limitBuffers)
        for number in 0..<Self.count { rig.socket.send(Self.text(number)) }
        // The buffers behind the socket may take some time to fill up.
        while Readiness.writable.holds(for: descriptor), !Task.isCancelled { await serviceTurn(of: loop) }
        goOn.signal()
        for number in 0..<Self.count { try #require(await rig.events.next() == .text(Self.text(number))) }
        #expect(await firstWrong.next() == .some(nil))
        await loop.shutdown()
        withExtendedLifetime(server) {}
    }
}
#endif
