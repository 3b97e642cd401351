#if os(Linux)
import Processes
import PusherChannels
import Testing
import TestSupport

/// Each server profile, tested once over a socket.
@Suite struct ServerProfileSmokeTests {
    @Test(arguments: ServerProfile.byName.map(\.key))
    func `A client subscribes, receives events and signs in on servers of every profile`(with name: String) async throws {
        let profile = try #require(ServerProfile.byName.first { $0.key == name }?.value)
        let server = try await LocalServer.start(profile: profile)
        try await withWatchdog {
            let client = LiveClient(of: server)
            try await client.connect()
            for channel in ["presence-room", "private-encrypted-orders", "cache-news"] {
                try await client.subscribe(channel)
                server.publish(channel: channel, event: "n", data: #"{"on":"\#(channel)"}"#)
                #expect(try await client.event("n") == #"{"on":"\#(channel)"}"#)
            }
            if profile.supportsSignIn {
                let id = try await client.pusher.signIn()
                #expect(!id.isEmpty)
            }
        }
        await server.stop()
    }
}
#endif
