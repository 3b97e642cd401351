#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing

/// A service whose server is killed again and again.
@Suite struct ServerLossTests {
    private let rounds = 20

    /// The client runs in its own process, so all threads and descriptors there are its own.
    @Test func twentyKilledServersLeaveNothingBehind() async throws {
        try await withWatchdog { try await loseServers() }
    }

    private func loseServers() async throws {
        let (port, held) = try HeldPort.take()
        defer { close(held) }
        var server = try await Command.server(port: port).command
        let listen = try Command("listen", "news", "--json", "--max-delay", "0.1", "--port", String(port))
        try await listen.errors.next(containing: "subscribed to news")
        let api = PusherHTTPAPI(
            appID: "1", key: "local-key", secret: "local-secret", host: .host("127.0.0.1"), port: port, useTLS: false,
            options: .patient)
        var threads: [Int] = []
        var descriptors: [Int] = []
        for round in 1...rounds {
            server.signal(SIGKILL)
            #expect(await server.end() == .signal(SIGKILL))
            server = try await Command.server(port: port).command
            try await listen.errors.next(containing: "subscribed to news")
            try await api.trigger(channels: ["news"], eventName: "headline", data: "\(round)")
            #expect(await listen.output.next()?.contains("\"data\":\"\(round)\"") == true)
            threads.append(ProcessTables.threads(of: listen.id))
            descriptors.append(ProcessTables.descriptors(of: listen.id))
        }
        #expect(descriptors.last == descriptors.first, "\(descriptors)")
        // The system's thread pools add a thread or two on a busy machine; a leak in each round would be far more.
        #expect(threads[rounds - 1] - threads[0] < rounds / 2, "\(threads)")
        server.signal(SIGTERM)
        let log = await server.errors.toEnd().prefix { $0 != "stopping" }
        #expect(log.filter { $0.contains("connected to local-key") }.count == 1, "\(log)")
        #expect(log.filter { $0.contains("disconnected") }.isEmpty, "\(log)")
    }
}
#endif
