#if os(Linux)
import Dispatch
import Foundation
import Processes
@testable import PusherChannels
import Testing

/// Every failure to connect ends in one report, with an actionable reason.
@Suite struct ConnectFailureTests {
    private func failure(
        port: Int, host: String = "127.0.0.1", secure: Bool = false
    ) async throws -> TransportError {
        try await withWatchdog {
            let rig = SocketRig()
            rig.open(port: port, host: host, secure: secure)
            let events = await rig.events.untilClosed()
            #expect(events.count == 1)
            return try #require(events.last?.failure)
        }
    }

    /// Keeps the server alive until the report arrives.
    private func failure(
        with server: RawServer, host: String = "127.0.0.1", secure: Bool = false
    ) async throws -> TransportError {
        defer { withExtendedLifetime(server) {} }
        return try await failure(port: server.port, host: host, secure: secure)
    }

    @Test func aPortWithNobody() async throws {
        let (port, descriptor) = try RawServer.refusingPort()
        defer { close(descriptor) }
        let failure = try await failure(port: port)
        #expect(failure.kind == .connectionRefused)
        #expect(failure.message.contains("127.0.0.1:\(port)"))
    }

    @Test func anUnknownHost() async throws {
        let failure = try await failure(port: 80, host: "does-not-exist.invalid")
        #expect(failure.kind == .hostNotFound)
        #expect(failure.message.contains("does-not-exist.invalid"))
    }

    @Test func aNameIsResolved() async throws {
        let server = try RawServer { connection in
            try connection.upgrade()
            try connection.readToEnd()
        }
        try await withWatchdog {
            let rig = SocketRig()
            rig.open(port: server.port, host: "localhost")
            #expect(await rig.events.next() == .opened(first))
        }
    }

    @Test func theAddressesOfANameAreTriedInTurn() async throws {
        let server = try RawServer { connection in
            try connection.upgrade()
            try connection.readToEnd()
        }
        try await withWatchdog {
            let addresses = ["127.0.0.2", "::1", "127.0.0.1", "127.0.0.3"]
            let rig = SocketRig(socket: NetworkWebSocket(loop: .patient, resolve: resolving(to: addresses)))
            rig.open(port: server.port, host: "several.example")
            #expect(await rig.events.next() == .opened(first))
        }
    }

    /// The following steps have their own time limits, and no other address is tried.
    @Test(arguments: [false, true])
    func anAddressThatTookTheConnectionIsTimedNoMore(secure: Bool) async throws {
        let asked = Note<Void>()
        let server = try RawServer { connection in
            _ = try connection.readSome()
            asked.send(())
            try connection.readToEnd()
        }
        try await withWatchdog {
            let time = Duration.milliseconds(50)
            let loop = NetworkLoop(timeouts: NetworkTimeouts(stage: .seconds(86_400), address: time))
            // On a busy machine the first address may time out, hence the second one.
            let rig = SocketRig(socket: NetworkWebSocket(loop: loop, resolve: resolving(to: ["127.0.0.1", "127.0.0.1"])))
            rig.open(port: server.port, host: "two.example", secure: secure)
            await asked.next()
            let fired = Note<Void>()
            loop.post { service in
                let timer = service.timers.makeTimer()
                // Set later, so it fires later.
                timer.set(after: time) { [timer] in withExtendedLifetime(timer) { fired.send(()) } }
            }
            await fired.next()
            #expect(ProcessTables.connections(toPort: server.port) == 1)
            await loop.shutdown()
            #expect(await rig.events.untilClosed().last?.failure?.kind == .cancelled)
        }
    }

    @Test func allAddressesAreTriedBeforeOneReport() async throws {
        let (port, descriptor) = try RawServer.refusingPort()
        defer { close(descriptor) }
        try await withWatchdog {
            let rig = SocketRig(
                socket: NetworkWebSocket(loop: .patient, resolve: resolving(to: ["127.0.0.2", "::1", "127.0.0.1"])))
            rig.open(port: port, host: "several.example")
            rig.socket.open(WebSocketRequest(secure: false, host: "", port: 1, path: "/"), attempt: second)
            rig.open(port: port, host: "several.example", attempt: 3)
            var reports: [ConnectionAttempt: [TransportError.Kind]] = [:]
            for _ in 1...3 {
                guard case .closed(.failed(let failure), let attempt) = await rig.events.next() else { return }
                reports[attempt, default: []].append(failure.kind)
            }
            #expect(reports[second] == [.unsupported])
            #expect(reports[ConnectionAttempt(3)] == [.connectionRefused])
            #expect(reports[first]?.count == 1)
        }
    }

    @Test func anAddressThatComesTooLateIsIgnored() async throws {
        let reply = Locked<AddressResolver.Completion?>(nil)
        let asked = Note<Void>()
        try await withWatchdog {
            let rig = SocketRig(
                socket: NetworkWebSocket(loop: .patient) { _, completion in
                    reply.withLock { $0 = completion }
                    asked.send(())
                    return {}
                })
            rig.open(port: 80, host: "slow.example")
            await asked.next()
            rig.socket.close(code: 1000, reason: "")
            let events = await rig.events.untilClosed()
            #expect(events.last?.failure?.kind == .cancelled)
            reply.withLock { $0 }?(.success(["127.0.0.1"]))
            await serviceTurn()
            rig.socket.open(WebSocketRequest(secure: false, host: "", port: 1, path: "/"), attempt: second)
            guard case .closed(_, second) = await rig.events.next() else {
                Issue.record("nothing more may be reported of the first attempt")
                return
            }
        }
    }

    @Test(arguments: [401, 404, 302, 503])
    func aReplyThatIsNoUpgrade(status: Int) async throws {
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 \(status) No\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\nno")
            try connection.readToEnd()
        }
        let failure = try await failure(with: server)
        #expect(failure.kind == .upgradeRefused(status: status))
        #expect(failure.message.contains("\(status)"))
    }

    @Test func aWrongAcceptKey() async throws {
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            try connection.send(
                """
                HTTP/1.1 101 Switching Protocols\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r
                \r

                """)
            try connection.readToEnd()
        }
        #expect(try await failure(with: server).kind == .protocolViolation)
    }

    @Test func somethingThatIsNotHTTP() async throws {
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            try connection.send("SSH-2.0-OpenSSH_9.2p1\r\n\r\n")
        }
        let failure = try await failure(with: server)
        #expect([.protocolViolation, .connectionLost].contains(failure.kind))
    }

    @Test(arguments: [false, true])
    func aServerThatHangsUpDuringTheHandshake(resets: Bool) async throws {
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            if resets { connection.resetOnClose() }
        }
        #expect(try await failure(with: server).kind == .connectionLost)
    }

    @Test func aServerThatNeverRepliesIsGivenUpByClose() async throws {
        let asked = Note<Bool>()
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            asked.send(true)
            try connection.readToEnd()
            asked.send(false)
        }
        try await withWatchdog {
            let rig = SocketRig()
            rig.open(port: server.port)
            #expect(await asked.next() == true)
            rig.socket.close(code: 1000, reason: "")
            let events = await rig.events.untilClosed()
            #expect(events.count == 1)
            #expect(events.last?.failure?.kind == .cancelled)
            // The connection is closed, not just forgotten.
            #expect(await asked.next() == false)
        }
    }

    // MARK: TLS

    @Test func tlsWithAPlainServer() async throws {
        let server = try RawServer { connection in
            try connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            try connection.readToEnd()
        }
        let failure = try await failure(with: server, host: "localhost", secure: true)
        #expect(failure.kind == .tlsFailed(.notTLS))
        #expect(failure.message.contains("wrong version number"))
    }

    @Test func tlsWithAServerThatHangsUp() async throws {
        let server = try RawServer { _ in }
        #expect(try await failure(with: server, host: "localhost", secure: true).kind == .tlsFailed(.handshakeFailed))
    }

    /// A server also sends this alert to a client without a certificate, but it has that meaning only if the server requested
    /// one.
    @Test func aServerThatHasNothingInCommonWithUs() async throws {
        let server = try RawServer { connection in
            // A fatal alert, handshake_failure (RFC 5246, 7.2).
            try connection.send([21, 3, 3, 0, 2, 2, 40])
            try connection.readToEnd()
        }
        #expect(try await failure(with: server, host: "localhost", secure: true).kind == .tlsFailed(.handshakeFailed))
    }

    @Test func aCertificateThatNobodyVouchesFor() async throws {
        let server = try await TLSServer.start()
        let failure = try await failure(port: server.port, host: "localhost", secure: true)
        withExtendedLifetime(server) {}
        #expect(failure.kind == .tlsFailed(.selfSigned))
        #expect(failure.message.contains("self-signed certificate"))
    }
}
#endif
