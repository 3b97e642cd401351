#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// Mistakes of a server, an endpoint or a user: each ends in a typed error, and the client stays usable.
@Suite struct BadInputTests {
    private static let established =
        #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"1.1\",\"activity_timeout\":120}"}"#

    // MARK: Connecting

    // Proves P5.6.
    @Test func `A client retries a host whose name can't be resolved`() async throws {
        try await withWatchdog {
            let client = LiveClient(port: 80, host: "does-not-exist.invalid")
            client.pusher.connect()
            for _ in 0..<2 { try await client.expectError(.transport(.hostNotFound)) }
            #expect(client.pusher.connection.connectionState != .disconnected)
            client.pusher.disconnect()
        }
    }

    // MARK: The authorization endpoint

    // MARK: Messages from the server

    /// Connects a client to a server that sends these frames, and then an event `after`.
    private func hearing(
        _ frames: [Frame], _ check: @escaping @Sendable (LiveClient) async throws -> Void
    ) async throws {
        let server = try RawServer { connection in
            try connection.upgrade()
            try connection.send(.text(Self.established))
            for frame in frames { try connection.send(frame) }
            try connection.send(.text(#"{"event":"after","data":"ok"}"#))
            try connection.readToEnd()
        }
        try await withWatchdog {
            let client = LiveClient(port: server.port)
            client.pusher.connect()
            try await check(client)
            #expect(try await client.event("after") == "ok")
            #expect(client.pusher.connection.connectionState == .connected)
        }
        withExtendedLifetime(server) {}
    }

    // Proves P2.7, P13.4.
    @Test func `A binary message is reported as malformed, and the connection goes on`() async throws {
        try await hearing([.binary([1, 2, 3])]) { client in
            try await client.expectError(.malformedMessage)
        }
    }

    // Proves P2.7, P2.8, P3.6.
    @Test func `Unexpected and unknown protocol events change neither the connection nor its socket ID`() async throws {
        let frames = [
            #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"2.2\"}"}"#,
            #"{"event":"pusher_internal:subscription_succeeded","channel":"never-asked-for","data":"{}"}"#,
            #"{"event":"pusher_internal:member_added","channel":"presence-x","data":"{}"}"#,
            #"{"event":"pusher:error","data":null}"#, #"{"event":"pusher:unheard-of"}"#, #"{"event":""}"#,
        ]
        try await hearing(frames.map { .text($0) }) { client in
            _ = try await client.event("pusher:unheard-of")
            #expect(client.pusher.connection.socketID == "1.1")
        }
    }

    // MARK: Connections that end early

    @Test func `Events received before the server hangs up are all delivered, in order`() async throws {
        let connections = Locked(0)
        let server = try RawServer { connection in
            let number = connections.withLock { count in
                count += 1
                return count
            }
            try connection.upgrade()
            try connection.send(.text(Self.established))
            for event in 0..<100 { try connection.send(.text(#"{"event":"n","data":"\#(number)-\#(event)"}"#)) }
            if number == 2 { try connection.readToEnd() }
        }
        try await withWatchdog {
            let client = LiveClient(port: server.port)
            client.pusher.connect()
            for number in 1...2 {
                for event in 0..<100 {
                    let received = try await client.event("n")
                    #expect(received == "\(number)-\(event)")
                }
            }
        }
        withExtendedLifetime(server) {}
    }
}
#endif
