#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// A client's TLS and proxy settings apply to its authorization requests, too.
@Suite struct RoutedAuthorizationTests {
    @Test func `An authorization endpoint is refused if a foreign authority issued its certificate`() async throws {
        let server = try await LocalServer.start(tls: .throwaway)
        let stranger = try await LocalServer.start(tls: .throwaway)
        let authority = try #require(server.certificateAuthority)
        try await withWatchdog {
            let pusher = Pusher(
                key: "local-key",
                options: PusherClientOptions(
                    authMethod: .endpoint(authEndpoint: "https://localhost:\(stranger.port)/pusher/auth"),
                    host: .host("localhost"),
                    port: server.port, tls: TLSConfiguration(roots: .only(.text(authority.certificatePEM))),
                    timeouts: .patient))
            let recorder = RecordingDelegate(of: pusher)
            pusher.connect()
            pusher.subscribe("private-room")
            var error: PusherError?
            while error == nil { error = try await recorder.next(within: .seconds(Patience.seconds)).failure }
            #expect(error?.kind == .authorization)
            #expect(
                error?.message.contains("TLS with localhost:\(stranger.port) failed") == true, "\(error.map { "\($0)" } ?? "")")
            pusher.disconnect()
        }
        await server.stop()
        await stranger.stop()
    }
}
#endif
