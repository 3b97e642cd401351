#if os(Linux)
import Foundation
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// The requirements of RFC 6455 on the byte stream.
@Suite(.watchdog) struct RFC6455StreamTests {
    // Proves W4.2.
    @Test(arguments: ["ws.example", "127.0.0.1"])
    func `The TLS handshake comes first, and names the server's host but never an IP address`(host: String) async throws {
        let greeting = Note<[UInt8]>()
        let server = try RawServer { connection in greeting.send(try connection.readSome()) }
        let rig = SocketRig(socket: NetworkWebSocket(loop: .patient, resolve: resolving(to: ["127.0.0.1"])))
        rig.open(port: server.port, host: host, secure: true)
        let bytes = try #require(await greeting.next())
        // A handshake record, which contains a ClientHello.
        #expect(bytes.first == 0x16)
        let name = Array("ws.example".utf8)
        let isNamed = bytes.indices.contains { bytes[$0...].starts(with: name) }
        // An address isn't sent as a name (RFC 6066, 3).
        #expect(isNamed == (host == "ws.example"))
        #expect(!bytes.indices.contains { bytes[$0...].starts(with: Array("127.0.0.1".utf8)) })
        _ = await rig.events.untilClosed()
        withExtendedLifetime(server) {}
    }

    // Proves W4.8.
    @Test func `Each upgrade request has a key of its own`() async throws {
        let server = try RawServer.replying(then: .finish)
        for _ in 0..<8 {
            let rig = SocketRig()
            rig.open(port: server.port)
            _ = await rig.events.untilClosed()
        }
        let keys = server.requests.all.compactMap { request in
            request.components(separatedBy: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }
        }
        #expect(keys.count == 8)
        #expect(Set(keys).count == 8)
    }

    // Proves W5.10.
    @Test func `Each frame that a client sends has a mask of its own`() async throws {
        let received = Record<[UInt8]>()
        let server = try RawServer.replying(received: received)
        try await withSocket(to: server) { rig in
            for _ in 0..<100 { rig.socket.send("") }
            rig.socket.close(code: 1000, reason: "")
            _ = await rig.events.untilClosed()
            let bytes = try #require(await received.next())
            // Empty texts of six bytes each, which differ only in their masks.
            try #require(bytes.count >= 600)
            let masks = (0..<100).map { Array(bytes[6 * $0 + 2..<6 * $0 + 6]) }
            #expect(Set(masks).count == 100)
        }
        withExtendedLifetime(server) {}
    }

    // Proves W4.12.
    @Test func `Nothing is sent between the upgrade request and its response`() async throws {
        let early = Note<Bool>()
        let (asked, sent) = (Note<Void>(), DispatchSemaphore(value: 0))
        let server = try RawServer { connection in
            let request = try connection.readRequest()
            asked.send(())
            sent.wait()
            early.send(try connection.hasMore())
            try connection.send(RawConnection.upgradeHead(for: request))
            try connection.readToEnd()
        }
        let rig = SocketRig()
        rig.open(port: server.port)
        await asked.next()
        rig.socket.send("too early")
        await serviceTurn()
        sent.signal()
        #expect(await early.next() == false)
        #expect(await rig.events.next() == .opened(first))
        withExtendedLifetime(server) {}
    }

    // Proves W7.1, W6.4.
    @Test(arguments: [false, true])
    func `A close frame for a violation reaches a server that is still sending`(secure: Bool) async throws {
        let close = Note<Frame>()
        let server = try RawServer(tls: secure ? .throwaway : nil) { connection in
            try connection.upgrade()
            // A masked frame, followed by much more data than the client reads at a time.
            try connection.send([0x81, 0x80, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 1 << 20))
            close.send(try connection.readFrame())
            // Throws if the connection ends with a reset.
            try connection.readToEnd()
            close.finish()
        }
        let rig = SocketRig()
        rig.socket.open(.toLoopback(port: server.port, secure: secure), attempt: first)
        #expect(await rig.events.untilClosed().last?.failure?.kind == .protocolViolation)
        #expect(await close.next() == .close(1002, "masked frame from a server"))
        #expect(await close.next() == nil)
        withExtendedLifetime(server) {}
    }
}
#endif
