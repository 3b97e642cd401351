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
        let rig = SocketRig(resolve: resolving(to: ["127.0.0.1"]))
        rig.open(port: server.port, host: host, secure: true)
        let bytes = try #require(await greeting.next())
        func names(_ host: String) -> Bool { bytes.indices.contains { bytes[$0...].starts(with: host.utf8) } }
        // A handshake record, which contains a ClientHello.
        #expect(bytes.first == 0x16)
        #expect(names("ws.example") == (host == "ws.example"))
        // An address isn't sent as a name (RFC 6066, 3).
        #expect(!names("127.0.0.1"))
        _ = await rig.events.untilClosed()
    }

    // Proves W4.8, W5.10.
    @Test func `Each upgrade request has a key of its own, and each frame that a client sends a mask of its own`() async throws {
        let received = Record<[UInt8]>()
        let server = try RawServer.replying(received: received)
        var masks: Set<[UInt8]> = []
        let rigs = (0..<8).map { _ in SocketRig() }
        for rig in rigs {
            await rig.connect(to: server)
            for _ in 0..<12 { rig.socket.send("") }
            rig.socket.close(code: 1000, reason: "")
        }
        // The server doesn't reply to a close, so each takes as long as that may take.
        for rig in rigs {
            _ = await rig.events.untilClosed()
            let bytes = try #require(await received.next())
            // Empty texts of six bytes each, which differ only in their masks.
            try #require(bytes.count >= 72)
            for number in 0..<12 { masks.insert(Array(bytes[6 * number + 2..<6 * number + 6])) }
        }
        #expect(masks.count == 96)
        let lines = server.requests.all.flatMap { $0.components(separatedBy: "\r\n") }
        #expect(Set(lines.filter { $0.hasPrefix("Sec-WebSocket-Key: ") }).count == 8)
    }

    // Proves W4.12.
    @Test func `Nothing is sent between the upgrade request and its response`() async throws {
        let (early, asked, sent) = (Note<Bool>(), Note<Void>(), DispatchSemaphore(value: 0))
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
        await rig.connect(to: server, secure: secure)
        #expect(await rig.events.untilClosed().map(\.failure?.kind) == [.protocolViolation])
        #expect(await close.next() == .close(1002, "masked frame from a server"))
        #expect(await close.next() == nil)
    }
}
#endif
