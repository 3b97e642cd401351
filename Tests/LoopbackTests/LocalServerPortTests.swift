#if os(Linux)
import Glibc
import Processes
import TestSupport
import Testing

/// What a server that is stopped leaves of its port.
@Suite struct LocalServerPortTests {
    @Test func aPortIsFreeThoughAChildThatIsBeingSpawnedHasACopyOfTheListener() async throws {
        let (port, held) = try HeldPort.take()
        defer { close(held) }
        let server = try await LocalServer.start(port: port)
        let inherited = dup(try #require(ProcessTables.descriptors(listeningAt: port).first))
        defer { close(inherited) }
        await server.stop()
        let again = try await LocalServer.start(port: port)
        await again.stop()
    }

    @Test func noChildInheritsWhatAServerHas() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            let client = try RawClient(port: server.port)
            client.send(Array("GET /".utf8))
            let sockets = { @Sendable in ProcessTables.descriptors(at: server.port) }
            // The server waits on copies of its listener and of the connection.
            try await harness.eventually("it waits for the rest", within: .zero) { sockets().count == 4 }
            #expect(sockets().filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 } == [])
        }
    }
}
#endif
