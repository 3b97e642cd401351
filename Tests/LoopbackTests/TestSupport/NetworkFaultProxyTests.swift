#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// The proxy's faults as raw sockets see them.
@Suite(.watchdog) struct NetworkFaultProxyTests {
    private static let head = Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n".utf8)
    /// The bytes that the server sends on each connection: a head and four frames.
    private static let all = head + ["one", "two", "", String(repeating: "x", count: 300)].flatMap { Frame.text($0).bytes }

    /// Positions at the start, in and after the head, in and after frames, and at the end. `DownstreamTests` try each one.
    static let counts = [0, 20, head.count, head.count + 7, all.count - 1, all.count]

    /// The bytes that each client sent.
    private let heard = Note<[UInt8]?>()

    /// Returns a proxy to a server that sends at once, and then records the bytes that each client sent.
    private func rig(_ faults: [Fault] = []) throws -> ProxyRig {
        try ProxyRig(faults) { [heard] connection in
            try connection.send(Self.all)
            heard.send(try? connection.readToEnd())
        }
    }

    // MARK: Positions

    /// A fault at a position in bytes.
    enum Kind: CaseIterable, Sendable {
        case reset, truncation, halfClose, stall

        func fault(after count: Int) -> Fault {
            switch self {
            case .reset: .reset(after: .bytes(count))
            case .truncation: .truncate(after: .bytes(count))
            case .halfClose: .halfClose(after: .bytes(count))
            case .stall: .stall(after: .bytes(count))
            }
        }
    }

    /// A half-close and a stall concern only the server's bytes: the client's bytes still pass.
    @Test(arguments: Kind.allCases, counts)
    func `An injected fault acts after exactly the given number of bytes to the client`(kind: Kind, count: Int) async throws {
        let rig = try rig([kind.fault(after: count)])
        let client = try rig.client()
        // A reset waits a while for a client that has sent nothing.
        if kind == .reset { client.send([1]) }
        let read = try await client.reads(kind == .stall ? count : .max)
        #expect(read.bytes == Array(Self.all.prefix(count)))
        switch kind {
        case .reset:
            #expect(read.end == .reset)
            #expect(rig.proxy.bytesToClients == count)
            #expect(rig.proxy.connectionCount == 1)
            #expect(rig.proxy.openConnectionCount == 0)
        case .truncation:
            #expect(read.end == .finished)
            client.send([1, 2, 3])
            #expect(await heard.next() == .some([]))
        case .halfClose, .stall:
            if kind == .halfClose { #expect(read.end == .finished) }
            client.send([1, 2, 3])
            client.finish()
            // By now the server has sent everything.
            #expect(await heard.next() == .some([1, 2, 3]))
            if kind == .stall { #expect(rig.proxy.bytesToClients == count) }
            #expect(rig.proxy.bytesToServer == 3)
        }
    }

    @Test func `Injected faults and cuts act on open connections, and later connections are unharmed`() async throws {
        let rig = try rig()
        let clients = try (1...4).map { _ in try rig.client() }
        for client in clients { _ = try await client.reads(Self.all.count) }
        clients[1].send([1])
        try rig.proxy.inject(.halfClose, onConnection: 1)
        try rig.proxy.inject(.reset(after: .frames(1)), onConnection: 2)
        #expect(try await clients[0].reads().end == .finished)
        #expect(try await clients[1].reads().end == .reset)
        #expect(rig.proxy.openConnectionCount == 3)
        rig.proxy.cutAll()
        #expect(try await clients[2].reads().end == .reset)
        #expect(rig.proxy.openConnectionCount == 0)
        let next = try rig.client()
        #expect(try await next.reads(Self.all.count).bytes == Self.all)
        #expect(rig.proxy.connectionCount == 5)
    }

    // MARK: Refusing

    @Test func `A fault proxy that refuses connections keeps its port, and accepts again once healed`() async throws {
        let rig = try rig()
        let port = rig.proxy.port
        let early = try RawClient(port: port)
        _ = try await early.reads(Self.all.count)
        for _ in 1...3 {
            try rig.proxy.inject(.refused)
            try rig.proxy.inject(.refused)
            #expect(throws: POSIXError(.ECONNREFUSED)) { try RawClient(port: port) }
            rig.proxy.heal()
            let client = try RawClient(port: port)
            #expect(try await client.reads(Self.all.count).bytes == Self.all)
        }
        // The earlier connection wasn't affected.
        early.send([7])
        early.finish()
        #expect(try await early.reads().end == .finished)
        #expect(rig.proxy.bytesToServer == 1)
    }

    // MARK: Slowness

    @Test(arguments: [
        (Fault.latency(.milliseconds(200)), Duration.milliseconds(200)),
        (.bandwidth(bytesPerSecond: 2000), .milliseconds(150)),
        (.dribble(bytes: 50, every: .milliseconds(40)), .milliseconds(280)),
    ])
    func `Injected latency, bandwidth limits and dribbling take their time, and lose no bytes`(
        fault: Fault, takes least: Duration
    ) async throws {
        let (clock, start) = (ContinuousClock(), ContinuousClock().now)
        let rig = try rig([fault])
        let client = try rig.client()
        #expect(try await client.reads(Self.all.count).bytes == Self.all)
        #expect(clock.now - start >= least)
    }

    // MARK: Errors

    @Test func `The fault proxy refuses faults that only a server or a mock can inject`() throws {
        let rig = try rig()
        for fault in [Fault.upgradeRefused(status: 503), .wrongAcceptKey, .badUTF8, .error(.timedOut)] {
            #expect(throws: UnsupportedFault.self) { try rig.proxy.inject(fault) }
            #expect(throws: UnsupportedFault.self) { try rig.proxy.inject(fault, onConnection: 1) }
            #expect(throws: NetworkFaultProxy.CannotStart.self) {
                try NetworkFaultProxy.start(to: "127.0.0.1", port: 80, faults: [fault])
            }
        }
        #expect(throws: UnsupportedFault.self) { try rig.proxy.inject(.refused, onConnection: 1) }
    }

    @Test func `A fault proxy can't start with an unknown host, an invalid port, or a port in use`() throws {
        let rig = try rig()
        for (host, port, own) in [
            ("does-not-exist.invalid", 80, 0), ("127.0.0.1", 0, 0), ("127.0.0.1", 80, 65_536), ("127.0.0.1", 80, rig.proxy.port),
        ] {
            #expect(throws: NetworkFaultProxy.CannotStart.self) {
                try NetworkFaultProxy.start(to: host, port: port, listeningPort: own)
            }
        }
    }
}
#endif
