#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// Mistakes of a server, an endpoint or a user: each ends in a typed error, and the client stays usable.
@Suite(.watchdog) struct BadInputTests {
    private static let established =
        #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"1.1\",\"activity_timeout\":120}"}"#

    // Proves P2.7, P2.8, P3.6, P13.4.
    @Test func `A binary message is reported, and neither it nor protocol events out of place change the connection`()
        async throws
    {
        let texts = [
            #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"2.2\"}"}"#,
            #"{"event":"pusher_internal:subscription_succeeded","channel":"never-asked-for","data":"{}"}"#,
            #"{"event":"pusher_internal:member_added","channel":"presence-x","data":"{}"}"#,
            #"{"event":"pusher:error","data":null}"#, #"{"event":"pusher:unheard-of"}"#, #"{"event":""}"#,
            #"{"event":"after","data":"ok"}"#,
        ]
        let server = try RawServer { connection in
            try connection.upgrade()
            try connection.send(.text(Self.established))
            try connection.send(.binary([1, 2, 3]))
            for text in texts { try connection.send(.text(text)) }
            try connection.readToEnd()
        }
        let client = LiveClient(port: server.port)
        client.pusher.connect()
        try await client.expectError(.malformedMessage)
        _ = try await client.event("pusher:unheard-of")
        #expect(client.pusher.connection.socketID == "1.1")
        #expect(try await client.event("after") == "ok")
        #expect(client.pusher.connection.connectionState == .connected)
        withExtendedLifetime(server) {}
    }
}
#endif
