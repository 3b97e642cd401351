#if os(Linux)
import Logging
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// A server that attacks its clients: it gets nothing signed that it chose, and costs others no more than it sends.
@Suite(.watchdog) struct HostileServerTests {
    private static func established(_ socketID: String) -> Frame {
        let data = #"{"socket_id":\#(socketID.quotedJSON),"activity_timeout":120}"#
        return .text(#"{"event":"pusher:connection_established","data":\#(data.quotedJSON)}"#)
    }

    // Proves P2.7, P13.4.
    @Test func `A binary message is reported, and the connection goes on`() async throws {
        let server = try RawServer { connection in
            try connection.upgrade()
            for frame in [Self.established("1.1"), .binary([1, 2, 3]), .text(#"{"event":"after","data":"ok"}"#)] {
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

    /// The attack: a socket id that turns a subscription's signature into that of a request which publishes an event.
    // Proves P3.2, P14.7.
    @Test func `A client signs nothing for a socket ID that contains a forged HTTP request`() async throws {
        let heard = Record<String>()
        let forged = "POST\n/apps/1/events\nauth_key=local-key&auth_timestamp=1&auth_version=1.0&body_md5=0&x="
        let server = try RawServer { connection in
            try connection.upgrade()
            try connection.send(Self.established(forged))
            while true { heard.append(try connection.readFrame().text) }
        }
        let user = UserAuthMethod.inline(secret: "local-secret", userData: #"{"id":"ann"}"#)
        let client = LiveClient(port: server.port, auth: .inline(secret: "local-secret"), userAuth: user)
        client.pusher.subscribe("private-a")
        client.pusher.signIn { _ in }
        client.pusher.connect()
        for _ in 0..<3 { try await client.expectError(.malformedMessage) }
        client.pusher.disconnect()
        #expect(heard.all.filter { $0.contains("local-key:") || $0.contains("private-a") } == [])
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
            try connection.send(Self.established("1.1"))
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
