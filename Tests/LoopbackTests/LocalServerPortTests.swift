#if os(Linux)
import Glibc
import Processes
import PusherChannels
import TestSupport
import Testing

/// A server that is stopped frees its port.
@Suite struct LocalServerPortTests {
    /// Repeated, because a server may be stopped before it has waited for its first connection.
    @Test func aPortIsFreeThoughAChildThatIsBeingSpawnedHasACopyOfTheListener() async throws {
        let (port, held) = try HeldPort.take()
        defer { close(held) }
        for _ in 1...20 {
            let server = try await LocalServer.start(port: port)
            let inherited = dup(try #require(ProcessTables.descriptors(listeningAt: port).first))
            defer { close(inherited) }
            await server.stop()
        }
    }

    @Test func aServerComesBackAtItsAddress() async throws {
        let (port, held) = try HeldPort.take()
        defer { close(held) }
        try await withTestHarness { harness in
            let server = try await harness.startServer(port: port)
            await server.stop()
            let again = try await harness.startServer(port: server.port)
            #expect(again.url == server.url)
        }
    }

    /// A signature for an earlier connection must be refused.
    @Test func aServerThatComesBackGivesItsConnectionsOtherIDs() async throws {
        try await withTestHarness { harness in
            var ids: Set<String> = []
            for count in 1...2 {
                let server = try await harness.startServer()
                let options = PusherClientOptions(host: .host(server.host), port: server.port, useTLS: false)
                let pusher = Pusher(key: ServerApp.local.key, options: options)
                pusher.connect()
                try await harness.eventually("the client is connected", within: .zero) { pusher.connection.socketId != nil }
                ids.insert(try #require(pusher.connection.socketId))
                #expect(ids.count == count)
                await pusher.shutdown()
                await server.stop()
            }
        }
    }

    @Test func noChildInheritsWhatAServerHas() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            let client = try RawClient(port: server.port)
            client.send(Array("GET /".utf8))
            let sockets = { @Sendable in ProcessTables.descriptors(at: server.port) }
            try await harness.eventually("it has a listener and a connection", within: .zero) { sockets().count == 2 }
            #expect(sockets().filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 } == [])
        }
    }
}
#endif
