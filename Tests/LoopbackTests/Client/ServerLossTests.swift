#if os(Linux)
import FoundationNetworking
@testable import PusherChannels
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing

@Suite(.watchdog) struct ServerLossTests {
    /// The client runs in its own process, so all threads and descriptors there are its own.
    @Test func `A client whose server is killed twenty times goes on, and keeps no threads or descriptors`() async throws {
        let rounds = 20
        let (port, held) = try HeldPort.take()
        defer { close(held) }
        var server = try await Command.server(port: port).command
        let listen = try Command("listen", "news", "--json", "--max-delay", "0.1", "--port", String(port))
        try await listen.errors.next(containing: "subscribed to news")
        let api = PusherHTTPAPI(
            appID: "1", key: "local-key", secret: "local-secret", host: .host("127.0.0.1"), port: port, useTLS: false,
            options: .patient)
        var (threads, descriptors): ([Int], [Int]) = ([], [])
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
        let log = await server.errors.toEnd().prefix { $0.withoutTime != "stopping" }
        #expect(log.filter { $0.contains("connected to local-key") }.count == 1, "\(log)")
        #expect(log.filter { $0.contains("disconnected") }.isEmpty, "\(log)")
    }
}

/// A peer accepts a connection and resets it at once. The report doesn't depend on when the loop looks at the socket.
@Suite(.watchdog) struct ResetBeforeTheLoopLooksTests {
    /// An action of the peer before it resets the connection.
    enum Before: CaseIterable, Sendable {
        case nothing
        /// The peer sends FIN first; the system has another error number for a reset after that.
        case finishing
    }

    /// Returns a resolver that makes the peer reset the connection before the loop first looks at its socket.
    ///
    /// The loop receives the name's address as a command, and connects at once; the next command of the same turn accepts the
    /// connection and resets it. Only then does the loop poll its sockets.
    private func resolver(
        _ listener: Int32, port: Int, loop: NetworkLoop, after before: Before
    ) -> AddressResolver.Resolve {
        { _, completion in
            completion(.success(["127.0.0.1"]))
            loop.post { _ in
                let descriptor = accept(listener, nil, nil)
                if before == .finishing { shutdown(descriptor, Int32(SHUT_WR)) }
                RawConnection(descriptor: descriptor, requests: Record()).resetOnClose()
                let client = ProcessTables.descriptors(connectedTo: port).first
                #expect(client == nil || Readiness.gone.wait(for: client ?? -1))
            }
            return {}
        }
    }

    @Test(arguments: Before.allCases, [false, true])
    func `A socket reset before the loop polls it is reported as lost or as a failed handshake`(before: Before, secure: Bool)
        async throws
    {
        let (listener, port) = try Loopback.ipv4.listener()
        defer { close(listener) }
        let loop = NetworkLoop(timeouts: .long)
        let rig = SocketRig(on: loop, resolve: resolver(listener, port: port, loop: loop, after: before))
        rig.open(port: port, host: "resets.example", secure: secure)
        let failure = try #require(await rig.events.untilClosed().last?.failure)
        #expect(failure.kind == (secure ? .tlsFailed(.handshakeFailed) : .connectionLost), "\(failure.message)")
        await loop.shutdown()
    }

    @Test(arguments: Before.allCases)
    func `A request fails with networkConnectionLost if reset before the loop polls its socket`(before: Before) async throws {
        let (listener, port) = try Loopback.ipv4.listener()
        defer { close(listener) }
        let loop = NetworkLoop(timeouts: .long)
        let resolve = resolver(listener, port: port, loop: loop, after: before)
        let rig = HTTPRig(NetworkHTTPSession(proxy: .none, loop: loop, resolve: resolve))
        let failure = try await rig.failure(HTTPRig.request("http://resets.example:\(port)/"))
        #expect(failure.code == .networkConnectionLost, "\(failure.failure.message)")
        await loop.shutdown()
    }
}
#endif
