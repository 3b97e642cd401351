#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// The faults of a local server, byte for byte.
@Suite struct LocalServerFaultTests {
    /// Requests an upgrade, and reads the head of the response.
    private func upgrade(_ server: LocalServer) async throws -> (RawClient, head: String) {
        let client = try RawClient(port: server.port)
        client.send(Attack.upgrade())
        let head = try await onThread {
            var bytes: [UInt8] = []
            while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), let next = client.read(1).bytes.first { bytes.append(next) }
            return String(decoding: bytes, as: UTF8.self)
        }
        return (client, head)
    }

    /// Returns the first message, which has fewer than 65536 bytes.
    private func greeting(_ client: RawClient) async throws -> String {
        var length = Int(try await client.reads(2).bytes.last ?? 0)
        if length == 126 { length = try await client.reads(2).bytes.reduce(0) { $0 << 8 | Int($1) } }
        return String(decoding: try await client.reads(length).bytes, as: UTF8.self)
    }

    @Test(arguments: [200, 302, 401, 404, 503])
    func `The local server refuses upgrades with the injected status until the fault is healed`(status: Int) async throws {
        try await withServer { server in
            try server.inject(.upgradeRefused(status: status))
            #expect(try await upgrade(server).head.hasPrefix("HTTP/1.1 \(status) "))
            server.heal()
            #expect(try await upgrade(server).head.hasPrefix("HTTP/1.1 101 "))
        }
    }

    static let text = Array(#"{"event":"test:malformed","data":{}}"#.utf8)

    @Test(arguments: [
        (Fault.malformedFrame(.unknownOpcode), [0x83, UInt8(text.count)] + text),
        (.malformedFrame(.reservedBit), [0xC1, UInt8(text.count)] + text),
        (
            .malformedFrame(.masked),
            [0x81, 0x80 | UInt8(text.count), 1, 2, 3, 4] + text.enumerated().map { $1 ^ UInt8($0 % 4 + 1) }
        ),
        (.malformedFrame(.fragmentedControl), [0x09, 1, 0x78]),
        (.malformedFrame(.oversizedControl), [0x89, 126, 0, 126] + [UInt8](repeating: 0x78, count: 126)),
        (.malformedFrame(.orphanContinuation), [0x80, UInt8(text.count)] + text),
        (.badUTF8, [0x81, 4, 0x22, 0xC3, 0x28, 0x22]),
    ])
    func `An injected frame is sent to open connections, and to new ones after the greeting`(fault: Fault, bytes: [UInt8])
        async throws
    {
        try await withServer { server in
            let (early, _) = try await upgrade(server)
            #expect(try await greeting(early).contains("pusher:connection_established"))
            try server.inject(fault)
            #expect(try await early.reads(bytes.count).bytes == bytes)
            let (late, _) = try await upgrade(server)
            #expect(try await greeting(late).contains("pusher:connection_established"))
            #expect(try await late.reads(bytes.count).bytes == bytes)
        }
    }

    @Test func `The local server refuses faults of the network, which only the fault proxy can inject`() async throws {
        let server = try await LocalServer.start()
        for fault in [Fault.refused, .reset, .stall, .halfClose, .latency(.zero), .error(.timedOut)] {
            #expect(throws: UnsupportedFault.self) { try server.inject(fault) }
        }
        await server.stop()
    }
}
#endif
