#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// The client and the local server over real sockets, with the authorization endpoint called over real HTTP.
@Suite struct ClientTests {
    private static func api(of server: LocalServer) -> PusherHTTPAPI {
        PusherHTTPAPI(
            appID: "1", key: "local-key", secret: "local-secret", host: .host("127.0.0.1"), port: server.port, useTLS: false,
            options: .patient)
    }

    @Test func `A client subscribes to public, private, and presence channels and receives their events`() async throws {
        try await withLiveClient { client, server in
            for channel in ["news", "private-orders", "presence-lobby"] {
                try await client.subscribe(channel)
                try await Self.api(of: server).trigger(channels: [channel], eventName: "n", data: "1")
                #expect(try await client.event("n") == "1")
            }
            #expect(server.requests.count { $0.path == "/pusher/auth" } == 2)
        }
    }

    // Proves P19.17, P19.18.
    @Test func `A Sockudo channel begins with what of its past the filter shows`() async throws {
        try await withServer(profile: .sockudoV2) { server in
            let api = Self.api(of: server)
            for name in ["placed", "seen", "placed"] {
                try await api.trigger(channels: ["orders"], eventName: name, data: "past")
            }
            let client = LiveClient(of: server, protocol: .sockudo)
            let updates = client.pusher.updates(of: "orders", rewind: .events(2), filter: .events("placed"))
            try await client.connect()
            var seen: [String] = []
            for try await case .event(let event) in updates {
                seen.append("\(event.eventName) \(event.position?.serial ?? 0)")
                if seen.count == 2 {
                    for name in ["seen", "placed"] { server.publish(channel: "orders", event: name, data: "live") }
                }
                if seen.count == 3 { break }
            }
            #expect(seen == ["placed 3", "sockudo:rewind_complete 0", "placed 5"])
        }
    }
}
#endif
