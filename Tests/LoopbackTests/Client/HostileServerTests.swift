#if os(Linux)
import Logging
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// A server that attacks its clients costs others no more than it sends.
@Suite(.watchdog) struct HostileServerTests {
    private static let established = Frame.text(#"{"event":"pusher:connection_established","data":{"socket_id":"1.1"}}"#)

    // Proves P2.7, P13.4.
    @Test func `A binary message is reported, and the connection goes on`() async throws {
        let server = try RawServer { connection in
            try connection.upgrade()
            for frame in [Self.established, .binary([1, 2, 3]), .text(#"{"event":"after","data":"ok"}"#)] {
                try connection.send(frame)
            }
            try connection.readToEnd()
        }
        let client = LiveClient(port: server.port)
        client.pusher.connect()
        try await client.expectError(.malformedMessage)
        #expect(try await client.event("after") == "ok")
        #expect(client.pusher.connection.connectionState == .connected)
    }

    /// Frames that are each worth a line, hundreds of thousands of them.
    @Test(arguments: [
        "", #"{"event":"pusher:error","data":{"message":"no"}}"#,
        #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"1.1\"}"}"#,
    ])
    func `A flood of bad messages is summed up in a few lines of the log`(message: String) async throws {
        let count = 50_000
        let server = try RawServer { connection in
            try connection.upgrade()
            try connection.send(Self.established)
            try connection.send(Array(repeating: Frame.text(message).bytes, count: count).flatMap { $0 })
            try connection.send(.text(#"{"event":"after","data":"ok"}"#))
            try connection.readToEnd()
        }
        let lines = Locked<[String]>([])
        var options = PusherClientOptions(host: .host("127.0.0.1"), port: server.port, useTLS: false, timeouts: .patient)
        options.logger = LineRecorder.logger(lines)
        options.logger.logLevel = .info
        let pusher = Pusher(key: "k", options: options)
        let after = pusher.events(buffering: StreamBuffering(limit: .max, byteLimit: .max))
        pusher.connect()
        for try await event in after where event.eventName == "after" { break }
        await pusher.shutdown()
        // On a busy machine it may take several minutes.
        let written = lines.withLock { $0 }
        let leftOut = written.filter { $0.contains("left out") }
        #expect(written.count < (leftOut.count + 1) * (LogLimiter.limit + 20))
        let missing = leftOut.compactMap { $0.firstMatch(of: #/count=(\d+)/#).flatMap { Int($0.1) } }.reduce(0, +)
        #expect(missing + written.count { $0.hasPrefix("warning") && !$0.contains("left out") } >= count, "\(written.suffix(5))")
    }
}
#endif
