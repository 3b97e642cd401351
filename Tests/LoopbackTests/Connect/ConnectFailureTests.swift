#if os(Linux)
import Dispatch
import Foundation
import Processes
@testable import PusherChannels
import Testing

/// Every failure to connect ends in one report, with an actionable reason.
@Suite(.watchdog) struct ConnectFailureTests {
    /// The following steps have their own time limits, and no other address is tried.
    @Test(arguments: [false, true])
    func `An address's time limit ends when the address accepts the connection`(secure: Bool) async throws {
        let asked = Note<Void>()
        let server = try RawServer { connection in
            _ = try connection.readSome()
            asked.send(())
            try connection.readToEnd()
        }
        let time = Duration.milliseconds(50)
        let loop = NetworkLoop(timeouts: NetworkTimeouts(stage: .seconds(86_400), address: time))
        // On a busy machine the first address may time out, hence the second one.
        let rig = SocketRig(on: loop, resolve: resolving(to: ["127.0.0.1", "127.0.0.1"]))
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

    @Test func `An attempt that all of a host's addresses refuse is reported once`() async throws {
        let (port, descriptor) = try RawServer.refusingPort()
        defer { close(descriptor) }
        let rig = SocketRig(resolve: resolving(to: ["127.0.0.2", "::1", "127.0.0.1"]))
        rig.open(port: port, host: "several.example")
        #expect(await rig.events.next()?.failure?.kind == .connectionRefused)
        #expect(await rig.isSilent())
    }

    @Test func `An address that is found after the socket was closed is ignored`() async throws {
        let (reply, asked) = (Locked<AddressResolver.Completion?>(nil), Note<Void>())
        let rig = SocketRig(
            resolve: { _, completion in
                reply.withLock { $0 = completion }
                asked.send(())
                return {}
            })
        rig.open(port: 80, host: "slow.example")
        await asked.next()
        rig.socket.close(code: 1000, reason: "")
        #expect(await rig.events.next()?.failure?.kind == .cancelled)
        reply.withLock { $0 }?(.success(["127.0.0.1"]))
        await serviceTurn()
        #expect(await rig.isSilent())
    }

    // MARK: TLS

    /// A server also sends `handshake_failure` to a client without a certificate, but it has that meaning only if the server
    /// requested one. A `bad_certificate` can only be about the one that is missing.
    @Test(arguments: [(40, .handshakeFailed), (42, .clientCertificateRequired)] as [(UInt8, TLSError)])
    func `A TLS alert from a server that asked for no certificate is reported by its meaning`(
        alert: UInt8, failure: TLSError
    ) async throws {
        let server = try RawServer { connection in
            // A fatal alert (RFC 5246, 7.2).
            try connection.send([21, 3, 3, 0, 2, 2, alert])
            try connection.readToEnd()
        }
        let rig = SocketRig()
        rig.open(port: server.port, host: "localhost", secure: true)
        #expect(await rig.events.untilClosed().map(\.failure?.kind) == [.tlsFailed(failure)])
    }
}
#endif
